package headrace.aggregate;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.List$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * One of Spark's own aggregates by its name in Spark's registry, which executors have without a session, and its constant arguments.
 *
 * <p>Its columns are the input, or with more than one, the fields of the input; they have the very types that the function takes.
 */
record SketchSpec(String function, DataType input, int columns, String constants) {
  // What a fresh buffer of the default size takes, about; it decides only when a task sends on what it has combined.
  private static final int MEMORY = 4096;

  Sketch<?> build(String name, int ordinal) {
    List<Expression> arguments = new ArrayList<>();
    BoundReference column = new BoundReference(ordinal, input, true);
    if (columns == 1) {
      arguments.add(column);
    } else if (input instanceof StructType struct && struct.size() == columns) {
      for (int i = 0; i < columns; i++) {
        arguments.add(new GetStructField(column, i, Option.empty()));
      }
    } else {
      throw new IllegalArgumentException("the aggregate '" + name + "' reads " + columns + " columns, not " + input.catalogString());
    }
    arguments.addAll(Constants.read(constants));
    Object found = FunctionRegistry.builtin().lookupFunction(FunctionIdentifier.apply(function),
        List$.MODULE$.from(CollectionConverters.asScala(arguments)));
    if (!(found instanceof TypedImperativeAggregate<?> typed)) {
      throw new IllegalArgumentException("the aggregate '" + name + "' (" + function + ") has no buffer that can be merged");
    }
    return new Sketch<>(name, this, typed, ordinal);
  }

  String codec() {
    return function + "(" + input.catalogString() + "," + constants + ")";
  }

  /** Nulls are nothing to all of them but the counters of frequent values. */
  boolean skips(UnsafeRow inputs, int ordinal) {
    if (function.startsWith("approx_top_k")) {
      return false;
    }
    return columns == 1 ? inputs.isNullAt(ordinal) : inputs.getStruct(ordinal, columns).anyNull();
  }

  int memory() {
    return MEMORY;
  }
}
