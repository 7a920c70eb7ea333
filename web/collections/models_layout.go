package collections

import (
	"shardboard/web/templates"
)

// LayoutModel is every matched database beside the layouts of the profile.
type LayoutModel struct {
	State     templates.State
	LiveURL   string
	Databases []LayoutDB
}

// LayoutDB is one database.
type LayoutDB struct {
	DB       string
	Level    string // "ok", "note"
	Verdict  string
	Detail   string
	Compared string
	Columns  []LayoutColumn
	Rows     []LayoutRow
	Findings []LayoutFinding // what is worth a look first
}

// LayoutColumn is one known layout.
type LayoutColumn struct {
	Name, Title, Since string
	URL                string // compares with it; "" when it is the only one
	Nearest, Compared  bool
}

// LayoutRow is one collection: its shard key here and in every layout.
type LayoutRow struct {
	Name, URL string
	Here      string // shard key
	HereWord  string // instead of a key
	Cells     []LayoutCell
}

// LayoutCell is a collection in one layout.
type LayoutCell struct {
	Label    string
	Key      string
	Word     string // instead of a key
	Same     bool   // as it is here
	Compared bool
	Title    string
}

// LayoutFinding is one difference and what to do about it.
type LayoutFinding struct {
	Key, Name  string
	Word       string
	Look       bool
	Want, Here string
	Means      string
	Todo       string
	Commands   []string
}
