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
