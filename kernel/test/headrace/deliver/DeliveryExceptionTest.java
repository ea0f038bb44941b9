package headrace.deliver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** The one line of a failed delivery, found again on the driver. */
class DeliveryExceptionTest {
  @Test
  void theLineIsFoundInSparksText() {
    DeliveryException thrown = new DeliveryException("topic\n  alerts is gone", "create it");
    assertEquals("topic alerts is gone; cure: create it", thrown.getMessage());
    Exception spark = new Exception("Job aborted: Lost task 0.3: " + thrown + "\n\tat somewhere");
    assertEquals(thrown.getMessage(), DeliveryException.line(spark));
    assertEquals(thrown.getMessage(), DeliveryException.line(new Exception("wrapped", thrown)));
    assertNull(DeliveryException.line(new Exception("something else")));
  }
}
