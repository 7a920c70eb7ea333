package api

import (
	"encoding/json"
	"time"
)

// LocateItem is one thing that a locate query can mean (GET and POST locate).
type LocateItem struct {
	Kind        string  `json:"kind"` // project, document, client, schema, key, …
	ID          string  `json:"id"`   // hex id, or the key as Extended JSON
	Name        string  `json:"name"` // project's name, Yorkie document's key
	DB          string  `json:"db"`
	Project     string  `json:"project"` // id of the owning project; "" if none is known
	ProjectName string  `json:"projectName"`
	Removed     bool    `json:"removed"` // a Yorkie document that was removed
	Answer      string  `json:"answer"`  // one sentence: where it is; with counts=1 what the counts say
	Places      []Place `json:"places"`
	Notes       []Note  `json:"notes,omitempty"`
}

// Note is a remark as a code with arguments.
type Note struct {
	Code string            `json:"code"`
	Args map[string]string `json:"args,omitempty"`
}

// Place is where one collection keeps, or would keep, a located thing. Shard
// is "" when several are possible; Shards then has them all.
type Place struct {
	NS      string     `json:"ns"`
	What    string     `json:"what"` // code of what the collection holds
	Sharded bool       `json:"sharded"`
	Shard   string     `json:"shard"`
	Shards  []string   `json:"shards"`
	Exact   bool       `json:"exact"`
	Chunks  int        `json:"chunks"` // that may hold it; 0 when not sharded
	Min     Key        `json:"min"`
	Max     Key        `json:"max"`
	Key     Key        `json:"key"`  // the full key looked up; null when only a prefix is known
	Hash    *string    `json:"hash"` // of the hashed field, a signed 64-bit decimal
	Version *Version   `json:"version"`
	Since   *time.Time `json:"since"`
	Zone    string     `json:"zone"`
	Jumbo   bool       `json:"jumbo"`
	Exists  *bool      `json:"exists"` // null: nobody looked; with counts=1 whether a row was counted
	State   string     `json:"state"`  // yes, absent, would-be (belongs there, whether or not a row is), unknown

	// Only when asked for: why=1, prove=1 and counts=1.
	Why      *Why    `json:"why,omitempty"`
	Sentence string  `json:"sentence,omitempty"` // to paste into a ticket; with why=1
	Proof    *Proof  `json:"proof,omitempty"`
	Rows     *Figure `json:"rows,omitempty"`

	Moving *MovingPlace `json:"moving,omitempty"` // a migration moves it now
}

// LocateAnswer is the answer to GET locate: everything that the question can
// mean. Ambiguous questions have several items.
type LocateAnswer struct {
	Items   []LocateItem `json:"items"`
	AsOf    time.Time    `json:"asOf"`
	Stale   bool         `json:"stale"`
	Input   []Reading    `json:"input"` // how the question was understood, the likeliest reading first
	Cost    LocateCost   `json:"cost"`
	Anatomy []Anatomy    `json:"anatomy"` // of the ids in the question, then of those found
}

// MarshalJSON keeps empty lists arrays: clients loop over them unasked.
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

// Reading is one way in which a question was understood. Form is project,
// documentKey, dashboard, reference, id, uuid or shardKey; the other fields
// are there as far as the form has them. What looks like a key and led to
// nothing is not repeated: project is "" then.
type Reading struct {
	Form    string `json:"form"`
	Project string `json:"project,omitempty"` // name, id or public key
	Key     string `json:"key,omitempty"`     // of a Yorkie document
	ID      string `json:"id,omitempty"`
	Kind    string `json:"kind,omitempty"` // document or client
}

// LocateCost is what an answer cost the cluster, in queries.
type LocateCost struct {
	Targeted  int `json:"targeted"`
	Broadcast int `json:"broadcast"`
}

// Anatomy is an id taken apart. Kind is objectId, uuid1, 3 to 8, uuidLocality,
// uuidNil, uuidMax or uuidOther.
type Anatomy struct {
	Kind   string     `json:"kind"`
	ID     string     `json:"id"`
	Time   *time.Time `json:"time"` // when it was made; null if its form does not say
	Parts  []IDPart   `json:"parts"`
	Ranged string     `json:"ranged"` // code of what it means for placement on a ranged shard key
	Hashed string     `json:"hashed"` // and on a hashed one
	Notes  []Note     `json:"notes,omitempty"`
}

// IDPart is one field of an id: its hexadecimal digits from (inclusive) to to
// (exclusive), hyphens not counted.
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

// MaxLocateLines bounds one POST locate.
const MaxLocateLines = 1000

// LocateLine is the answer to one line of POST locate: items or a problem.
type LocateLine struct {
	Line    int          `json:"line"`  // from 1
	Query   string       `json:"query"` // "" when it looks like a key and led to nothing: such text is not repeated
	Items   []LocateItem `json:"items"`
	Input   []Reading    `json:"input"`
	Cost    LocateCost   `json:"cost"`
	Anatomy []Anatomy    `json:"anatomy"`
	Problem *Problem     `json:"problem,omitempty"`
}
