package templates

// Anatomy is an id taken apart.
type Anatomy struct {
	Kind   string // in words
	ID     string
	Made   string // when, in words; "" when the form does not say
	At     Moment
	Parts  []AnatomyPart
	Ranged string // what it means for placement on a ranged key
	Hashed string
	Notes  []string
}

// AnatomyPart is a run of the id's digits and what it says.
type AnatomyPart struct {
	Digits, Name, Value string
}

// Bulk is many lines and where they are.
type Bulk struct {
	Text    string // what is in the box
	Problem string
	Summary string
	Asked   bool
	Rows    []BulkRow
}

// BulkRow is one answer to a line; a line with several answers has several.
type BulkRow struct {
	Line    string // "" when the line is the one above
	Query   Key
	Kind    string
	Name    Key
	URL     string // to the whole answer
	Project string
	Shards  []ShardRef
	Spread  string // why there are several shards, or none
	Problem string
}

// Duplicates is the check for ids on more than one shard.
type Duplicates struct {
	State       string // in words
	Code        string
	Problem     string
	Running     bool   // and may be stopped by who looks
	Needs       string // why there are no buttons
	CanResume   bool
	CanStart    bool
	Left        string
	Started     Moment
	Ended       Moment
	Collections []DuplicateProgress
	Found       string
	Rows        []DuplicateRow
	More        string
}

// DuplicateProgress is how far one collection is.
type DuplicateProgress struct {
	NS, URL string
	Read    string
	Total   Figure
	Share   float64 // 0..1; negative when not known
	State   string
	Next    Key
}

// DuplicateRow is one id that several shards have.
type DuplicateRow struct {
	NS       string
	ID       string
	URL      string
	Shards   []ShardRef
	Projects []Link
}

// Link is a name that leads somewhere.
type Link struct{ Text, URL string }
