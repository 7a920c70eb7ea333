package api

import "time"

// LocateItem is one thing that a locate query can mean (GET and POST locate).
type LocateItem struct {
	Kind        string  `json:"kind"` // project, document, client, schema, key, …
	ID          string  `json:"id"`   // hex id, or the key as Extended JSON
	Name        string  `json:"name"` // project's name, Yorkie document's key
	DB          string  `json:"db"`
	Project     string  `json:"project"` // id of the owning project; "" if none is known
	ProjectName string  `json:"projectName"`
	Removed     bool    `json:"removed"` // a Yorkie document that was removed
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
	Exists  *bool      `json:"exists"` // null: nobody looked
	State   string     `json:"state"`  // yes, absent, would-be, unknown
}

// LocateRequest is the JSON body of POST locate.
type LocateRequest struct {
	Lines []string `json:"lines"` // at most MaxLocateLines
}

// MaxLocateLines bounds one POST locate.
const MaxLocateLines = 1000

// LocateLine is the answer to one line of POST locate: items or a problem.
type LocateLine struct {
	Line    int          `json:"line"` // from 1
	Query   string       `json:"query"`
	Items   []LocateItem `json:"items"`
	Problem *Problem     `json:"problem,omitempty"`
}
