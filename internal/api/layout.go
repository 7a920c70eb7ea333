package api

import "shardboard/internal/message"

// Layout compares a database's shard keys with those of its schema's layout (GET layout): one item
// per database that the profile matches.
type Layout struct {
	DB          string             `json:"db"`
	Profile     string             `json:"profile"`
	Nearest     string             `json:"nearest"`  // best fitting layout
	Compared    string             `json:"compared"` // the layout of collections and findings: nearest, or ?layout=
	Looks       int                `json:"looks"`    // findings that need attention
	Listed      bool               `json:"listed"`   // false: it is not known which unsharded collections exist
	Layouts     []LayoutScore      `json:"layouts"`
	Collections []LayoutCollection `json:"collections"`
	Findings    []LayoutFinding    `json:"findings"`

	// For the page only.
	Verdict message.Message   `json:"-"`
	Detail  []message.Message `json:"-"` // how sure the verdict is
	Grouped []LayoutFinding   `json:"-"` // findings with absent collections as one, those that need attention first
}

// LayoutScore is how well one known layout fits.
type LayoutScore struct {
	Layout string `json:"layout"`
	Since  string `json:"since"` // releases with this layout; "" if the profile does not say
	Agree  int    `json:"agree"`
	Differ int    `json:"differ"`
	Extra  int    `json:"extra"`
	Points int    `json:"points"` // the highest is nearest
}

// LayoutCollection is one collection of the compared layout or of the database. Keys are written as
// in mongosh; null if there is none.
type LayoutCollection struct {
	NS       string  `json:"ns"`
	State    string  `json:"state"`    // sharded, unsharded, absent, unlisted (not sharded, existence not known)
	Key      *string `json:"key"`      // its shard key
	Expected *string `json:"expected"` // the layout's key; null: unsharded, or not in the layout
	Known    bool    `json:"known"`    // in the compared layout

	StateText string       `json:"-"`
	Layouts   []LayoutCell `json:"-"` // what it is in each layout, in their order
	Judged    bool         `json:"-"` // it is sharded, or a layout says how it should be
}

// LayoutCell is one collection in one layout.
type LayoutCell struct {
	Layout string
	Key    string // expected shard key; "" = see Text
	Text   string // instead of a key
	Same   bool   // as it is in the database
}

// LayoutFinding is one collection that differs from the layout.
type LayoutFinding struct {
	Code     string   `json:"code"` // missing, unsharded, unlisted, different, sharded, documented, older, newer, foreign
	NS       string   `json:"ns"`
	Key      *string  `json:"key"`
	Expected *string  `json:"expected"`
	Look     bool     `json:"look"`
	Layout   string   `json:"layout,omitempty"`  // older, newer: a layout that has it
	Variant  string   `json:"variant,omitempty"` // a release known to leave it so
	Means    string   `json:"means"`             // a sentence
	Todo     string   `json:"todo"`              // a sentence
	Fix      string   `json:"fix"`               // none, shard, refine, reshard, copy, unshard, drop, back
	Commands []string `json:"commands"`          // for mongosh, typed by a person

	Name  string `json:"-"` // of the collection, or of several
	Label string `json:"-"` // the code in words
}
