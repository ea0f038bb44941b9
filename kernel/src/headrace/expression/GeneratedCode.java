package headrace.expression;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.codegen.Block;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import scala.collection.immutable.ArraySeq;

/**
 * Java source that an expression generates, put together from text and from the code of its children.
 *
 * <p>Children go in as blocks, not as text: Spark unescapes the text parts of a block, and would
 * unescape the string literals of a child a second time.
 */
final class GeneratedCode {
  private final List<String> texts = new ArrayList<>();
  private final List<JavaCode> blocks = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();

  GeneratedCode line(String... parts) {
    for (String part : parts) {
      text.append(part);
    }
    text.append('\n');
    return this;
  }

  GeneratedCode block(JavaCode block) {
    texts.add(text.toString());
    text.setLength(0);
    blocks.add(block);
    text.append('\n');
    return this;
  }

  Block done() {
    texts.add(text.toString());
    return new CodeBlock(
        ArraySeq.unsafeWrapArray(texts.toArray(new String[0])),
        ArraySeq.unsafeWrapArray(blocks.toArray(new JavaCode[0])));
  }
}
