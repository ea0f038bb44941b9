package headrace.aggregate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

/** The constant arguments of an aggregate as JSON, each with its type: they are in the layer, and in the manifest for people to read. */
final class Constants {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Constants() {}

  static void write(Object value, DataType type, ArrayNode to) {
    ObjectNode node = to.addObject();
    try {
      node.set("type", JSON.readTree(type.json()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("Spark's JSON of " + type.catalogString() + " is none", e);
    }
    node.set("value", JSON.valueToTree(plain(value, type)));
  }

  private static Object plain(Object value, DataType type) {
    if (value instanceof ArrayData array && type instanceof ArrayType of) {
      List<Object> plain = new ArrayList<>();
      for (Object element : array.toObjectArray(of.elementType())) {
        plain.add(plain(element, of.elementType()));
      }
      return plain;
    }
    return value instanceof UTF8String || value instanceof Decimal ? value.toString() : value;
  }

  static List<Literal> read(String json) {
    List<Literal> literals = new ArrayList<>();
    try {
      for (JsonNode node : JSON.readTree(json)) {
        DataType type = DataType.fromJson(node.path("type").toString());
        literals.add(new Literal(value(node.path("value"), type), type));
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("the constant arguments are not JSON: " + json, e);
    }
    return literals;
  }

  private static Object value(JsonNode node, DataType type) {
    if (node.isNull()) {
      return null;
    } else if (type instanceof ArrayType array) {
      List<Object> elements = new ArrayList<>();
      node.forEach(element -> elements.add(value(element, array.elementType())));
      return new GenericArrayData(elements.toArray());
    } else if (type instanceof BooleanType) {
      return node.booleanValue();
    } else if (type instanceof ByteType) {
      return (byte) node.intValue();
    } else if (type instanceof ShortType) {
      return node.shortValue();
    } else if (type instanceof IntegerType) {
      return node.intValue();
    } else if (type instanceof LongType) {
      return node.longValue();
    } else if (type instanceof FloatType) {
      return node.floatValue();
    } else if (type instanceof DoubleType) {
      return node.doubleValue();
    } else if (type instanceof DecimalType decimal) {
      return Decimal.apply(new BigDecimal(node.textValue()), decimal.precision(), decimal.scale());
    } else if (type instanceof StringType) {
      return UTF8String.fromString(node.textValue());
    }
    throw new IllegalArgumentException("an aggregate cannot have a constant " + type.catalogString());
  }
}
