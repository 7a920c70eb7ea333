package survey

import (
	"shardboard/internal/message"
)

// Label is the kind in words.
func (k Kind) Label() string {
	switch k {
	case Sample:
		return "All projects in document-wide collections, sampled"
	case Projects:
		return "All projects in project-wide collections, counted"
	case Project:
		return "One project, counted"
	case Document:
		return "One document, counted"
	}
	return "A survey of kind " + string(k)
}

// Label is the state in a word.
func (s State) Label() string {
	switch s {
	case Queued:
		return "Queued"
	case Running:
		return "Measuring"
	case Done:
		return "Done"
	case Stopped:
		return "Stopped"
	case Failed:
		return "Failed"
	}
	return string(s)
}

// MethodLabel is a method in a word.
func MethodLabel(method string) string {
	switch method {
	case MethodSample:
		return "Sampled"
	case MethodCounted:
		return "Counted"
	}
	return method
}

// MethodText says how rows were measured and how many were read.
func MethodText(method string, read int64) message.Message {
	n := message.Count("n", read)
	switch method {
	case MethodSample:
		return message.New("survey.sample", "Estimated from random rows ({n}), weighted by what each shard holds; "+
			"± is the 95 % interval for a weighted Poisson count (Fay and Feuer).", n)
	case MethodCounted:
		return message.New("survey.counted", "Counted row by row; rows read: {n}.", n)
	}
	return message.New("survey.other", "Measured by {method}; rows read: {n}.", message.Text("method", method), n)
}

// DeadLabel names the rows of a collection that nothing uses any more.
func DeadLabel(collection string) string {
	switch collection {
	case "documents":
		return "Removed documents"
	case "clients":
		return "Deactivated clients"
	case "revisions":
		return "Revisions without a document"
	}
	return "Unused rows of " + collection
}

// DeadText says why rows of a collection that nothing uses are still there.
func DeadText(collection string) string {
	switch collection {
	case "documents":
		return "A removed document keeps its row, its changes and its snapshots; only a purge deletes them, and no purge runs by itself."
	case "clients":
		return "Each activation adds a row and deactivation keeps the old one, so their number only grows."
	case "revisions":
		return "Compaction and purge leave revisions behind. At most 500 documents were looked up."
	}
	return "Nothing uses these rows any more."
}
