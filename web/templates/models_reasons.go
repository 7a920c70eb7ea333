package templates

// FailedMoves are the newest moves of a thing that failed.
type FailedMoves struct {
	Rows   []EventRow
	More   string // address of all of them; "" = these are all
	Folded *Folded
}

// Folded says how much of a list is left out, or was added, and leads to the other.
type Folded struct {
	Text, Title string
	URL, Link   string
}
