package templates

// WhyPlaces is why a located thing is where it is, place by place.
type WhyPlaces struct {
	Places    []WhyPlace
	ProveURL  string // asks the mongos; "" when that was done or cannot be
	CountsURL string
}

// WhyPlace is the chain of one place.
type WhyPlace struct {
	NS, Name string
	URL      string // of the chunk's own page; "" when there is not one chunk
	Shards   []ShardRef
	Steps    []WhyStep
	Sentence string
	Proof    *WhyProof
	Rows     *Figure // nil: nobody asked
	Open     bool
}

// WhyStep is one link of the chain.
type WhyStep struct{ Name, Text string }

// WhyProof is what the mongos said.
type WhyProof struct {
	Level string // ok, note, bad: as a verdict is drawn
	Text  string
}

// WhyRules is every balancer rule with its verdict on one chunk.
type WhyRules struct {
	Level    string // ok: it moves or is fine; note; bad
	Text     string
	Lead     string
	Rules    []WhyRule
	Decision string
}

// WhyRule is one line of the rules.
type WhyRule struct {
	Name    string
	Outcome string // code: pass, asks, blocks, waits, unknown
	Word    string
	Text    string
}

// WhyChunk is the page of one chunk.
type WhyChunk struct {
	NS, DB, URL string // of the collection
	Name        string
	Title       string
	Chunk       ChunkRow
	Place       WhyPlace
	Rules       WhyRules
	Failed      FailedMoves
	Dangers     []WhyDanger
	Heat        HeatLine
	Size        ChunkSize
	Watch       string // the item as it is watched
	Acts        Acts
	Moving      InFlight
}

// WhyDanger is a shard to which a chunk cannot be moved.
type WhyDanger struct {
	Shard ShardRef
	Text  string
}
