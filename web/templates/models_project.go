package templates

// Projects is the list of tenants.
type Projects struct {
	State    State
	LiveURL  string
	Query    string
	Summary  string
	DBColumn bool // more than one database holds projects
	Counted  bool // the profile has a count of documents
	Clients  bool // and of clients
	// DocumentsHead is what the profile calls its documents.
	DocumentsHead string
	Columns       []string // collections placed by project
	ByDoc         string   // sentence on the collections placed by document
	ByDocOn       []ShardRef
	Rows          []ProjectRow
	Pager         Pager
	EmptyWhy      string
}

// ProjectRow is one tenant.
type ProjectRow struct {
	ID, URL, Name, DB string
	Documents         Figure
	Clients           Figure
	Created           Moment
	Cells             []SpreadCell
}

// SpreadCell is one collection's shards for one project.
type SpreadCell struct {
	Name   string
	Shards []ShardRef
	Word   string // instead of shards: absent, unknown
	Chunks string
}

// Project is one tenant's page.
type Project struct {
	ID, Name, PublicKey, DB string
	Layout                  string
	Created                 Moment
	Facts                   []Fact
	Answer                  string // where is it, in one sentence
	Pin                     *Pin   // nil: it is not pinned
	Failed                  FailedMoves
	Shards                  []ShardRef
	Rows                    []SpreadRow
	Verdicts                []VerdictGroup
	Why                     WhyProject
	Survey                  SurveyPanel // beside the live region
	Watch                   string      // the item as it is watched
	Moving                  InFlight    // of its own ranges
}

// VerdictGroup is collections of which the same can be said.
type VerdictGroup struct {
	Names      string
	Pin, Split Verdict
}

// SpreadRow is one collection of a project.
type SpreadRow struct {
	NS, Name, URL string
	What          string
	Key           string // shard key, or the words for unsharded
	Absent        string // words when the collection is not there
	Exact         bool
	Certainty     string // exact or estimate, in words
	Basis         string
	Marks         []SpreadMark // in the order of Shards
	Chunks        []ChunkRow
	ChunkCount    int
	ChunkWords    string
}

// SpreadMark is one shard's cell of the picture.
type SpreadMark struct {
	Shard ShardRef
	Holds bool
	Sure  bool // holds, not "may hold"
	Text  string
	Title string
}

// Verdict is whether something can be done and the sentence why.
type Verdict struct {
	Can  bool
	Word string
	Why  string
}

// Shard is one shard's page.
type Shard struct {
	State       State
	LiveURL     string
	Failed      FailedMoves
	Folded      *Folded // of the list of collections
	Shard       ShardRef
	ReplSet     string
	Hosts       []string
	Zones       []string
	Draining    bool
	Answer      string // who is hit when it is sick
	Measures    []Measure
	Facts       []Fact
	Collections []ShardCollectionRow
	Unsharded   string
	Projects    []ShardProjectRow
	ProjectsWhy State
	More        int // projects not listed
	CSV         string
	// DocumentsHead is what the profile calls its documents.
	DocumentsHead string
	Moving        InFlight
}

// ShardCollectionRow is one collection's part on a shard.
type ShardCollectionRow struct {
	NS, URL   string
	Key       string
	Chunks    Cell
	Bytes     Cell
	Documents Cell
}

// ShardProjectRow is one project that has rows on a shard.
type ShardProjectRow struct {
	Name, URL string
	Whole     []string // collections wholly there
	Part      []string // collections partly there
	Rows      Figure   // share of its own rows
	Documents Figure
}

// Locate is the one box and its answer.
type Locate struct {
	Query, NS, Key string
	Asked          bool
	Problem        string
	Hint           string // what to do with an id that is in no collection by itself
	Read           string // how the question was understood and what it cost
	Anatomy        []Anatomy
	Items          []LocateItem
	Examples       []Example
}

// Example is a question that has an answer in this cluster.
type Example struct {
	Text, URL, What string
}

// LocateItem is one thing that the question can mean.
type LocateItem struct {
	Kind       string // in words
	Name, ID   string
	DB         string
	Project    string
	ProjectURL string
	Removed    bool
	Answer     string // before the shards
	AnswerEnd  string // after them
	Shards     []ShardRef
	Notes      []string
	Places     []PlaceRow
	URL        string // of its own page, if it has one
	Zoned      bool   // some place is in a zone
	Hashed     bool   // some place goes by a hash
	Why        WhyPlaces
}

// PlaceRow is one collection of a located thing.
type PlaceRow struct {
	NS, URL   string
	What      string
	Shards    []ShardRef
	Exact     bool
	Certainty string
	Exists    string
	ExistsBad bool
	KeyText   Key
	Hash      string
	Min, Max  Key
	Version   string
	Since     Moment
	Zone      string
	Jumbo     bool
	Chunks    string
	Moving    string // that it is on its way; "" when it is not
}

// ErrorModel is a request that could not be answered.
type ErrorModel struct {
	Status int
	Title  string
	Text   string
	Advice string
}
