package headrace.window;

/** How a step cuts event time, as the plan declared it. Times are microseconds since 1970; windows are [start, end). */
public sealed interface Window permits Windows, SessionWindow, SlidingWindow {}
