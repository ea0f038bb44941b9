package headrace.clock.policy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;

/**
 * A distribution of lateness that forgets: weights per bucket of {@link Lateness}, which merge by addition and
 * fade by a factor.
 *
 * <p>A quantile is given as the upper edge of its bucket: less than 1 % too long, and never too short. Too
 * short by 1 % could be all of a distribution that ends abruptly.
 */
final class Sketch {
  /** What has faded to less than this part of a row is forgotten. */
  private static final float LEAST = 1e-3f;

  // As exact as what is written down of it, so that a restart changes nothing.
  private float[] weights = {};

  void add(Lateness seen) {
    long[] counts = seen.counts();
    widen(counts.length);
    for (int bucket = 0; bucket < counts.length; bucket++) {
      weights[bucket] += counts[bucket];
    }
  }

  void merge(Sketch other) {
    widen(other.weights.length);
    for (int bucket = 0; bucket < other.weights.length; bucket++) {
      weights[bucket] += other.weights[bucket];
    }
  }

  /** All weights become this part of what they were. */
  void fade(double factor) {
    int last = 0;
    for (int bucket = 0; bucket < weights.length; bucket++) {
      float faded = (float) (weights[bucket] * factor);
      weights[bucket] = faded < LEAST ? 0 : faded;
      last = weights[bucket] > 0 ? bucket + 1 : last;
    }
    weights = Arrays.copyOf(weights, last);
  }

  /** What is later than {@code micros} counts as one bucket beyond it: how much later is of no use. */
  void cap(long micros) {
    int most = Lateness.bucket(micros) + 1;
    if (weights.length > most + 1) {
      for (int bucket = most + 1; bucket < weights.length; bucket++) {
        weights[most] += weights[bucket];
      }
      weights = Arrays.copyOf(weights, most + 1);
    }
  }

  /** The rows that it stands for. */
  double weight() {
    double sum = 0;
    for (float weight : weights) {
      sum += weight;
    }
    return sum;
  }

  /** The lateness that this share of the rows does not exceed, in microseconds; 0 for an empty sketch. */
  long quantile(double share) {
    // As many as may be later, and a little for 1 - 0.9 being less than 0.1.
    double beyond = weight() * (1 - share + 1e-9);
    for (int bucket = weights.length - 1; bucket > 0; bucket--) {
      beyond -= weights[bucket];
      if (beyond < 0) {
        return Lateness.upper(bucket);
      }
    }
    return 0;
  }

  /** The share of the rows that are later than this. */
  double beyond(long micros) {
    double later = 0;
    for (int bucket = weights.length - 1; bucket > Lateness.bucket(micros); bucket--) {
      later += weights[bucket];
    }
    return later == 0 ? 0 : later / weight();
  }

  /** The weights as text: four bytes each, in Base64. */
  String write() {
    ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * weights.length);
    bytes.asFloatBuffer().put(weights);
    return Base64.getEncoder().encodeToString(bytes.array());
  }

  static Sketch read(String text) {
    ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(text));
    Sketch sketch = new Sketch();
    sketch.weights = new float[bytes.capacity() / Float.BYTES];
    bytes.asFloatBuffer().get(sketch.weights);
    return sketch;
  }

  private void widen(int length) {
    if (length > weights.length) {
      weights = Arrays.copyOf(weights, length);
    }
  }
}
