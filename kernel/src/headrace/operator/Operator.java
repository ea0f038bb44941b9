package headrace.operator;

import headrace.clock.EpochTick;
import headrace.clock.EpochWatermarks;
import headrace.state.Cells;
import headrace.state.SparkCells;
import headrace.step.Epoch;
import headrace.step.Output;
import headrace.step.Step;
import headrace.step.Steps;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** The adapter between Spark's stateful operator and the steps of a layer; rows of program 0 pass through it unbuffered. */
public final class Operator extends StatefulProcessor<Row, Row, Row> {
  private static final long serialVersionUID = 1;
  private final String layerJson;
  private transient LayerSpec layer;
  private transient Cells cells;
  private transient Map<Integer, Step> steps;

  public Operator(String layerJson) {
    this.layerJson = layerJson;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    layer = LayerSpec.parse(layerJson);
    cells = new SparkCells(getHandle());
    steps = new HashMap<>();
  }

  @Override
  public Iterator<Row> handleInputRows(Row key, Iterator<Row> rows, TimerValues timers) {
    int program = key.getInt(0);
    java.util.Iterator<Row> inputs = CollectionConverters.asJava(rows);
    java.util.Iterator<Row> outputs = program == Inputs.PASS ? new Mapped<>(inputs, Operator::pass)
        : new Mapped<>(run(program, key.getInt(1), inputs), Operator::row);
    return CollectionConverters.asScala(outputs);
  }

  private java.util.Iterator<Output> run(int program, int group, java.util.Iterator<Row> inputs) {
    Epoch epoch = new Epoch(group, cells, EpochWatermarks.of(program), EpochTick.before());
    while (inputs.hasNext()) {
      Row row = inputs.next();
      int kind = row.getInt(Inputs.KIND);
      if (kind == Inputs.TICK) {
        epoch.tick(row.getLong(Inputs.TIME), row.getLong(Inputs.OFFSET));
      } else if (kind == Inputs.ROWS || kind == Inputs.RIGHT) {
        epoch.add(kind == Inputs.ROWS ? 0 : 1, row.<byte[]>getAs(Inputs.PAYLOAD));
      } else {
        epoch.add(kind == Inputs.ROW ? 0 : Epoch.COMBINED, row.getInt(Inputs.SOURCE), row.getInt(Inputs.PARTITION), row.getLong(Inputs.OFFSET),
            row.getLong(Inputs.TIME), row.<byte[]>getAs(Inputs.PAYLOAD));
      }
    }
    java.util.Iterator<Output> outputs = epoch.run(steps.computeIfAbsent(program, id -> Steps.of(layer.program(id))));
    Output line = epoch.ledger().isEmpty() ? null
        : new Output(Outputs.LEDGER, 0, -program, group, 0, epoch.ledger().write(program));
    return line == null ? outputs : new Followed<>(outputs, line);
  }

  private static Row pass(Row row) {
    if (row.getInt(Inputs.KIND) == Inputs.TICK) {
      return RowFactory.create(Outputs.TICKS, 0L, 0, 0, row.getLong(Inputs.OFFSET), row.get(Inputs.PAYLOAD));
    }
    return RowFactory.create((int) row.getLong(Inputs.TIME), 0L, row.getInt(Inputs.SOURCE), row.getInt(Inputs.PARTITION),
        row.getLong(Inputs.OFFSET), row.get(Inputs.PAYLOAD));
  }

  private static Row row(Output output) {
    return RowFactory.create(output.port(), output.time(), output.source(), output.partition(), output.offset(), output.payload());
  }

  /** An iterator that changes each element as it is read; a stream would hold what it has not been asked for. */
  private record Mapped<A, B>(java.util.Iterator<A> from, java.util.function.Function<A, B> change) implements java.util.Iterator<B> {
    @Override
    public boolean hasNext() {
      return from.hasNext();
    }

    @Override
    public B next() {
      return change.apply(from.next());
    }
  }

  /** An iterator with one element after its last. */
  private static final class Followed<A> implements java.util.Iterator<A> {
    private final java.util.Iterator<A> first;
    private A last;

    Followed(java.util.Iterator<A> first, A last) {
      this.first = first;
      this.last = last;
    }

    @Override
    public boolean hasNext() {
      return first.hasNext() || last != null;
    }

    @Override
    public A next() {
      if (first.hasNext()) {
        return first.next();
      }
      if (last == null) {
        throw new java.util.NoSuchElementException();
      }
      A element = last;
      last = null;
      return element;
    }
  }
}
