// Package loop is the step engine of a run: it converts the events of a model and the outcomes of
// tools into the chunks of the UI message stream, and decides the next step. It behaves like
// streamText and toUIMessageStream of the AI SDK 6.0.326.
//
// A Loop is a pure state machine. It starts no goroutine, reads no clock, makes no ids and calls no
// tool; its driver calls it in this order:
//
//	Begin                         once; its calls were approved and run first
//	( Event* EndStream            one model call
//	  ToolOutput | ToolError *    an outcome for every call of the Outcome
//	  EndStep )*                  while the Decision is NextStep
//	Finish                        once, unless the run is stopped or fails
//
// NextMessage may be called between EndStep and the next Event, when the driver closes the current
// message. RestartStep may be called instead of EndStep, when the stream was cut and the step will
// be requested again.
//
// Chunks are in the order in which a Reducer must see them. A Loop belongs to one goroutine; what
// it returns is never changed afterwards.
package loop
