import subprocess
import zipfile

import pytest

from headrace.errors import SetupError
from headrace.local import java, kernel

SOURCE = """
package headrace.sample;
import org.apache.spark.sql.types.StructType;
public final class Sample {
  public static String text() { return new StructType().add("a", "long").simpleString(); }
}
"""


@pytest.fixture
def checkout(tmp_path):
    here = kernel.Checkout.at(tmp_path, tmp_path / "kernel.jar")
    (here.sources / "headrace" / "sample").mkdir(parents=True)
    (here.sources / "headrace" / "sample" / "Sample.java").write_text(SOURCE)
    (here.resources / "META-INF" / "services").mkdir(parents=True)
    (here.resources / "META-INF" / "services" / "x").write_text("headrace.sample.Sample")
    return here


def classes_in(jar):
    with zipfile.ZipFile(jar) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_it_is_compiled_once_and_again_when_a_source_changes(checkout):
    assert kernel.build(checkout)
    first = checkout.jar.read_bytes()
    assert not kernel.build(checkout)
    source = checkout.sources / "headrace" / "sample" / "Sample.java"
    source.write_text(SOURCE.replace('"a"', '"b"'))
    assert not kernel.is_current(checkout)
    assert kernel.build(checkout)
    assert checkout.jar.read_bytes() != first
    source.write_text(SOURCE)
    assert kernel.build(checkout)
    assert checkout.jar.read_bytes() == first
    assert sorted(path.name for path in checkout.jar.parent.iterdir()) == ["kernel", "kernel.jar"]


def test_the_jar_holds_classes_for_java_17_and_the_resources(checkout):
    kernel.build(checkout)
    content = classes_in(checkout.jar)
    assert content["headrace/sample/Sample.class"][4:8] == b"\0\0\0\x3d"
    assert content["META-INF/services/x"] == b"headrace.sample.Sample"


def test_both_compilers_compile_the_sample(checkout, tmp_path):
    kernel.compile_with_ecj(checkout, tmp_path / "ecj")
    compiled = tmp_path / "ecj" / "headrace" / "sample" / "Sample.class"
    assert compiled.read_bytes()[4:8] == b"\0\0\0\x3d"


def test_the_real_kernel_compiles_where_there_is_no_jdk(tmp_path):
    kernel.compile_with_ecj(kernel.checkout(), tmp_path)
    assert any(tmp_path.rglob("*.class"))


def test_what_does_not_compile_is_shown_and_the_old_jar_stays(checkout, capfd):
    kernel.build(checkout)
    before = checkout.jar.read_bytes()
    (checkout.sources / "headrace" / "sample" / "Broken.java").write_text("class Broken { int x = ; }")
    with pytest.raises(SetupError, match="does not compile"):
        kernel.build(checkout)
    assert "Broken.java" in capfd.readouterr().err
    assert checkout.jar.read_bytes() == before


def test_the_java_tests_class_path_runs_the_sample(checkout):
    (checkout.tests / "headrace").mkdir(parents=True)
    (checkout.tests / "headrace" / "Print.java").write_text(
        "package headrace; public class Print { public static void main(String[] a) {"
        " System.out.println(headrace.sample.Sample.text()); } }"
    )
    class_path = ":".join(str(path) for path in kernel.build_tests(checkout))
    ran = subprocess.run(
        [java.find().java, "-cp", class_path, "headrace.Print"], capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == "struct<a:bigint>", ran.stderr
