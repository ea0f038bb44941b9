package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.math.BigInteger;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

/** The least or the greatest string (in byte order), binary or wide decimal. Nulls do not take part. */
final class LongExtreme extends Aggregate {
  private final boolean greatest;
  private final int ordinal;
  private final DataType type;

  LongExtreme(String name, boolean greatest, int ordinal, DataType type) {
    super(name);
    this.greatest = greatest;
    this.ordinal = ordinal;
    this.type = type;
  }

  static boolean orders(DataType type) {
    return type instanceof BinaryType || type instanceof DecimalType
        || type instanceof StringType string && string.supportsBinaryOrdering();
  }

  @Override
  public int words() {
    return 0;
  }

  @Override
  public int objects() {
    return 1;
  }

  @Override
  public String codec() {
    return (greatest ? "max(" : "min(") + type.catalogString() + ")";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (inputs.isNullAt(ordinal)) {
      return;
    }
    int at = object(slots);
    if (type instanceof StringType) {
      UTF8String value = inputs.getUTF8String(ordinal);
      if (wins(value, slots.objects[at])) {
        slots.objects[at] = value.copy();
      }
    } else {
      Object value = type instanceof DecimalType decimal ? inputs.getDecimal(ordinal, decimal.precision(), decimal.scale())
          : inputs.getBinary(ordinal);
      if (wins(value, slots.objects[at])) {
        slots.objects[at] = value;
      }
    }
  }

  private boolean wins(Object value, Object over) {
    if (over == null) {
      return true;
    }
    int order;
    if (value instanceof UTF8String string) {
      order = string.binaryCompare((UTF8String) over);
    } else if (value instanceof Decimal decimal) {
      order = decimal.compare((Decimal) over);
    } else {
      order = Arrays.compareUnsigned((byte[]) value, (byte[]) over);
    }
    return greatest ? order > 0 : order < 0;
  }

  @Override
  public void merge(Slots into, Slots from) {
    Object value = from.objects[object(from)];
    if (value != null && wins(value, into.objects[object(into)])) {
      into.objects[object(into)] = value;
    }
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    Object value = slots.objects[object(slots)];
    out.writeByte(value == null ? 0 : 1);
    if (value instanceof UTF8String string) {
      out.writeBytes(string.getBytes());
    } else if (value instanceof Decimal decimal) {
      out.writeBytes(decimal.toJavaBigDecimal().unscaledValue().toByteArray());
    } else if (value != null) {
      out.writeBytes((byte[]) value);
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    if (in.readByte() != 0) {
      byte[] value = in.readBytes();
      if (type instanceof StringType) {
        slots.objects[object(slots)] = UTF8String.fromBytes(value);
      } else if (type instanceof DecimalType decimal) {
        slots.objects[object(slots)] = Decimals.of(new BigInteger(value), decimal.scale(), decimal);
      } else {
        slots.objects[object(slots)] = value;
      }
    }
  }

  @Override
  public Object result(Slots slots) {
    return slots.objects[object(slots)];
  }
}
