package headrace.aggregate;

/** What stands in place of a result that cannot be given; {@code how} follows the aggregate's name in the reason: "has more than ...". */
public record Unfit(String how) {}
