package words

// damaged is what pages say while our own data cannot be used, and after a defect of
// ours. What is wrong with which file, and what to do, comes from the store.
var damaged = map[string]string{

	"outcome.note.unreadable": "What was measured of this run is unreadable: its row in the database is not as it was written.",
}
