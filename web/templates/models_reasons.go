package templates

// ServerText is what a server said, with a name before it.
type ServerText struct {
	Label, Text string
	Short       string // what is seen at first; "" = all of Text
}

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
