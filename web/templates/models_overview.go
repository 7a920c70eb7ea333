package templates

// Measure is one stacked bar: a total and every shard's part of it.
type Measure struct {
	Name  string
	Total Figure
	Parts []Part
	Label string // for screen readers: the picture in one sentence
	Why   string // instead of the bar when nothing is known
}

// Part is one shard's segment of a stacked bar.
type Part struct {
	Shard   ShardRef
	From    float64 // 0..1
	Share   float64 // 0..1
	Label   string  // "" when the segment is too narrow for words
	Title   string
	Unknown bool
}

// EventRow is one changelog entry in words.
type EventRow struct {
	Key     string
	Chunk   string // its short name; "" = it is about no chunk of now
	When    Moment
	Text    string
	NS      string
	URL     string // of the collection, "" when there is none
	From    *ShardRef
	To      *ShardRef
	By      *ShardRef
	Min     Key
	Max     Key
	Failed  bool
	Why     string      // the failure in words
	Server  *ServerText // and in those of the server; nil: it gave none
	Counts  string      // that the server logged, as one line
	What    string      // as the server writes it
	Details string      // as the server wrote them, Extended JSON
}
