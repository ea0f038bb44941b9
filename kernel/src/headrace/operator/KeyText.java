package headrace.operator;

import headrace.step.Program;
import headrace.window.StatedWindows;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonGenerator;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** A step's keys as people read them: JSON of the user's own columns, as deliveries have it. */
final class KeyText {
  private static final Map<String, String> OPTIONS =
      Map.of("ignoreNullFields", "false", "timestampFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX");

  private final StructField[] shown;
  private final UnsafeRow key;
  private JSONOptions options;

  private KeyText(StructField[] shown, int fields) {
    this.shown = shown;
    key = new UnsafeRow(fields);
  }

  /** Null for a step that works on all rows together. */
  static KeyText of(Program program) {
    StructField[] fields = program.key().fields();
    int own = fields.length - (program.window() instanceof StatedWindows ? StatedWindows.KEY_FIELDS : 0);
    return own == 0 ? null : new KeyText(Arrays.copyOf(fields, own), fields.length);
  }

  String json(byte[] bytes) {
    key.pointTo(bytes, bytes.length);
    Object[] values = new Object[shown.length];
    for (int i = 0; i < shown.length; i++) {
      values[i] = key.isNullAt(i) ? null : key.get(i, shown[i].dataType());
    }
    if (options == null) {
      options = options();
    }
    StringWriter text = new StringWriter();
    JacksonGenerator generator = new JacksonGenerator(new StructType(shown), text, options);
    generator.write(new GenericInternalRow(values));
    generator.flush();
    return text.toString();
  }

  private static JSONOptions options() {
    var options = scala.collection.immutable.Map$.MODULE$.<String, String>from(CollectionConverters.asScala(OPTIONS));
    return new JSONOptions(options, SQLConf.get().sessionLocalTimeZone(), "");
  }
}
