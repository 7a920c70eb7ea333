package api

import (
	"cmp"
	"encoding/json"
	"time"

	"shardboard/internal/message"
)

// LocateItem is one possible meaning of a locate query (GET and POST locate).
type LocateItem struct {
	Kind        string `json:"kind"` // project, document, client, schema, key, …
	ID          string `json:"id"`   // hex id, or the key as Extended JSON
	Name        string `json:"name"` // project's name, Yorkie document's key
	DB          string `json:"db"`
	Project     string `json:"project"` // id of the owning project; "" if unknown
	ProjectName string `json:"projectName"`
	// Its id in the database, where that is no ObjectID; project, and id of kind project, then stand for it.
	StoredProject string `json:"storedProject,omitempty"`

	Removed bool     `json:"removed"` // a Yorkie document that was removed
	Answer  Sentence `json:"answer"`  // one sentence: where it is; with counts=1 also the result of counting
	Places  []Place  `json:"places"`
	Notes   []Note   `json:"notes,omitempty"`

	// For pages.
	Shards []string `json:"-"` // where it belongs, sorted
	Exact  bool     `json:"-"` // each of its places is on one shard
}

// ShownID is the id as people write it.
func (it LocateItem) ShownID() string {
	if it.Kind == "project" {
		return cmp.Or(it.StoredProject, it.ID)
	}
	return it.ID
}

// ShownProject is the id of the owning project as people write it; "" if unknown.
func (it LocateItem) ShownProject() string { return cmp.Or(it.StoredProject, it.Project) }

// Note is a remark: a code with arguments.
type Note struct {
	Code    string            `json:"code"`
	Args    map[string]string `json:"args,omitempty"`
	Message message.Message   `json:"-"` // the remark in words
}

// Place is where one collection stores, or would store, a located object. Shard is "" if several
// are possible; Shards has them all.
type Place struct {
	NS      string     `json:"ns"`
	What    string     `json:"what"` // code of the collection's content
	Sharded bool       `json:"sharded"`
	Shard   string     `json:"shard"`
	Shards  []string   `json:"shards"`
	Exact   bool       `json:"exact"`
	Chunks  int        `json:"chunks"` // chunks that may contain it; 0 if unsharded
	Min     Key        `json:"min"`
	Max     Key        `json:"max"`
	Key     Key        `json:"key"`  // the full key; null if only a prefix is known
	Hash    *string    `json:"hash"` // hash of the hashed field, a signed 64-bit decimal
	Version *Version   `json:"version"`
	Since   *time.Time `json:"since"`
	Zone    string     `json:"zone"`
	// For pages: whose keys the chunk's bounds are, and the zone.
	OfMin     KeyProject `json:"-"`
	OfMax     KeyProject `json:"-"`
	ZoneShown ZoneName   `json:"-"`
	Jumbo     bool       `json:"jumbo"`
	Exists    *bool      `json:"exists"` // null: not checked; with counts=1 whether a row was counted
	State     string     `json:"state"`  // yes, absent, would-be (belongs there, whether or not a row is), unknown

	// Only on request: why=1, prove=1 and counts=1.
	Why      *Why    `json:"why,omitempty"`
	Sentence string  `json:"sentence,omitempty"` // sentence for a ticket; with why=1
	Proof    *Proof  `json:"proof,omitempty"`
	Rows     *Figure `json:"rows,omitempty"`

	// The collection's routing table is damaged: shards are the owners by the metadata (none, or several), and MongoDB
	// refuses every operation on the collection. Absent: it is sound.
	Damage *Damage `json:"damage,omitempty"`

	// Those of shards that the cluster does not have (config.shards does not list them): the metadata contradicts itself.
	MissingShards []string `json:"missingShards,omitempty"`

	Moving *MovingPlace `json:"moving,omitempty"` // a migration is moving it

	// For pages.
	From string `json:"-"` // Min as people write it; "" without one
	To   string `json:"-"` // Max
	URL  string `json:"-"` // of the collection, at this key if possible; "" if not sharded
}

// LocateAnswer is the answer to GET locate: all possible meanings. Ambiguous queries have several
// items.
type LocateAnswer struct {
	Items   []LocateItem `json:"items"`
	AsOf    time.Time    `json:"asOf"`
	Stale   bool         `json:"stale"`
	Input   []Reading    `json:"input"` // interpretations of the query, most likely first
	Cost    LocateCost   `json:"cost"`
	Anatomy []Anatomy    `json:"anatomy"` // ids of the query, then ids that were found

	Ticket *Ticket       `json:"ticket,omitempty"` // with ns= only if why=1
	Notes  []Note        `json:"notes,omitempty"`  // what was not searched, and why
	Near   *NearNames    `json:"near,omitempty"`   // with near=1
	Wider  []WiderSearch `json:"wider,omitempty"`  // with near=1 or in=: searches that cost more

	ReadAs message.Message `json:"-"` // Input and Cost in words
}

// MarshalJSON writes empty lists as arrays, so that clients can loop over them.
func (a LocateAnswer) MarshalJSON() ([]byte, error) {
	type plain LocateAnswer // drops the method, keeps the tags
	if a.Items == nil {
		a.Items = []LocateItem{}
	}
	if a.Input == nil {
		a.Input = []Reading{}
	}
	if a.Anatomy == nil {
		a.Anatomy = []Anatomy{}
	}
	return json.Marshal(plain(a))
}

// Ticket is the answer as one text to paste into a ticket.
type Ticket struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

// NearNames are projects whose names are near to one that no project has. How is case, beginning or
// spelling. A single one of case or beginning is also the item of the answer.
type NearNames struct {
	Typed    string        `json:"typed"`
	How      string        `json:"how"`
	Projects []NearProject `json:"projects"`
	More     int           `json:"more"` // not listed
}

// NearProject is one of them.
type NearProject struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	DB   string `json:"db"`

	IDText string `json:"-"` // the id as people write it
}

// WiderSearch is what GET locate with this in= asks of the cluster at most.
type WiderSearch struct {
	In          string  `json:"in"` // projects or collections
	Queries     int     `json:"queries"`
	Shards      int     `json:"shards"`
	Projects    int     `json:"projects"`
	Collections int     `json:"collections"`
	Seconds     float64 `json:"seconds"`

	Offer message.Message `json:"-"` // in words
}

// Reading is one interpretation of a query. Form is project, documentKey, dashboard, reference, id,
// uuid, value, shardKey, keyInProjects or idInCollections; the other fields depend on it. Text that looks like a
// secret key and matched nothing is not repeated: project is "" then.
type Reading struct {
	Form    string `json:"form"`
	Project string `json:"project,omitempty"` // name, id or public key
	Key     string `json:"key,omitempty"`     // key of a Yorkie document
	ID      string `json:"id,omitempty"`
	Kind    string `json:"kind,omitempty"` // document or client; of value: in words
}

// LocateCost is the number of queries that an answer cost the cluster.
type LocateCost struct {
	Targeted  int `json:"targeted"`
	Broadcast int `json:"broadcast"`
}

// Anatomy is a decoded id. Kind is objectId, uuid1, 3 to 8, uuidLocality, uuidNil, uuidMax or
// uuidOther.
type Anatomy struct {
	Kind   string     `json:"kind"`
	ID     string     `json:"id"`
	Time   *time.Time `json:"time"` // creation time; null if the form has none
	Parts  []IDPart   `json:"parts"`
	Ranged string     `json:"ranged"` // code for placement on a ranged shard key
	Hashed string     `json:"hashed"` // code for placement on a hashed shard key
	Notes  []Note     `json:"notes,omitempty"`
}

// IDPart is one field of an id: its hexadecimal digits from (inclusive) to to (exclusive), hyphens
// not counted.
type IDPart struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  int    `json:"from"`
	To    int    `json:"to"`
}

// LocateRequest is the JSON body of POST locate.
type LocateRequest struct {
	Lines []string `json:"lines"` // at most MaxLocateLines
}

// MaxLocateLines is the limit of one POST locate.
const MaxLocateLines = 1000

// LocateLine is the answer to one line of POST locate: items or a problem.
type LocateLine struct {
	Line    int          `json:"line"`  // from 1
	Query   string       `json:"query"` // "" if it looks like a secret key and matched nothing: such text is not repeated
	Items   []LocateItem `json:"items"`
	Input   []Reading    `json:"input"`
	Cost    LocateCost   `json:"cost"`
	Anatomy []Anatomy    `json:"anatomy"`
	Problem *Problem     `json:"problem,omitempty"`
}
