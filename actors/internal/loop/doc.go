// Package loop is the step engine of a run: it turns the events of a model and
// the outcomes of tools into the chunks of the UI message stream, and says what
// is to happen next. It behaves as streamText and toUIMessageStream of the AI
// SDK 6.0.326 do.
//
// A Loop is a pure state machine. It starts no goroutine, reads no clock, makes
// no ids and calls no tool; the driver feeds it and obeys it:
//
//	Begin                         once; its calls were approved and run first
//	( Event* EndStream            one model call
//	  ToolOutput | ToolError *    an outcome for every call of the Outcome
//	  EndStep )*                  while the Decision is NextStep
//	Finish | Abort | Error        once
//
// NextMessage may come between EndStep and the next Event, when the driver
// closes the message under way. RestartStep may come instead of EndStep, when
// the stream was cut and is to be asked for again.
//
// Chunks come in the order in which a Reducer must see them. A Loop belongs to
// one goroutine; what it hands out is never changed afterwards.
package loop
