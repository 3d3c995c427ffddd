// Package ledger records what calls of models use, and keeps it within limits.
//
// A call is reserved with the most that it may use before it is sent, and settled with what it has used afterwards.
// Limits apply to runs, and to persons, chats and the whole host in an hour, a day or a month of the calendar. A call is
// admitted while what was settled and what is reserved together are below every limit, so that no limit is exceeded by
// more than one reservation. A call that only reservations keep out waits until they are settled. For calls of a cheaper
// model all limits may be higher.
//
// What is recorded is one file of JSON lines for each day, named after its date in the time zone of the ledger. While a
// limit is set, every reservation reaches the operating system before its call is admitted, and every settlement before
// [Reservation.Settle] returns: both survive the death of the process, and a reservation that was never settled counts
// in full. Without limits no call is refused and only settlements are recorded, within a second. Nothing is fsynced: a
// loss of power may lose the last lines. Lines that cannot be read, such as a torn last one, are skipped.
//
// A [Ledger] is safe for concurrent use. One process at a time may write; [Usage] may be called at any time.
package ledger
