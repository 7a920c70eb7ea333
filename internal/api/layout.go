package api

// Layout is a database's shard keys beside those that its schema's layout
// expects (GET layout): one item per database that the profile matches.
type Layout struct {
	DB          string             `json:"db"`
	Profile     string             `json:"profile"`
	Nearest     string             `json:"nearest"`  // the layout that fits best
	Compared    string             `json:"compared"` // the layout of collections and findings: nearest, or ?layout=
	Looks       int                `json:"looks"`    // findings that are worth a look
	Listed      bool               `json:"listed"`   // false: which unsharded collections exist is not known
	Layouts     []LayoutScore      `json:"layouts"`
	Collections []LayoutCollection `json:"collections"`
	Findings    []LayoutFinding    `json:"findings"`
}

// LayoutScore is how well one known layout fits.
type LayoutScore struct {
	Layout string `json:"layout"`
	Since  string `json:"since"` // releases that have it; "" when the profile does not say
	Agree  int    `json:"agree"`
	Differ int    `json:"differ"`
	Extra  int    `json:"extra"`
	Points int    `json:"points"` // the greatest is nearest
}

// LayoutCollection is one collection of the compared layout or of the database.
// Keys are as people write them, null where there is none.
type LayoutCollection struct {
	NS       string  `json:"ns"`
	State    string  `json:"state"`    // sharded, unsharded, absent, unlisted (not sharded, existence not known)
	Key      *string `json:"key"`      // its shard key
	Expected *string `json:"expected"` // the layout's; null: unsharded, or not of the layout
	Known    bool    `json:"known"`    // of the compared layout
}

// LayoutFinding is one collection that is not as the layout says.
type LayoutFinding struct {
	Code     string   `json:"code"` // missing, unsharded, unlisted, different, sharded, documented, older, newer, foreign
	NS       string   `json:"ns"`
	Key      *string  `json:"key"`
	Expected *string  `json:"expected"`
	Look     bool     `json:"look"`
	Layout   string   `json:"layout,omitempty"`  // older, newer: a layout that has it
	Variant  string   `json:"variant,omitempty"` // a release that is known to leave it so
	Means    string   `json:"means"`             // a sentence
	Todo     string   `json:"todo"`              // a sentence
	Fix      string   `json:"fix"`               // none, shard, refine, reshard, copy, unshard, drop, back
	Commands []string `json:"commands"`          // for mongosh, typed by a person
}
