package api

import (
	"math"
	"strings"
	"time"
)

// HeatMap is a collection's writes over time (GET heat/map). Cells has one string per row with one
// letter per column: a letter is a range of rates, "." is none, "-" is unknown. Rate returns the
// middle of a letter's range.
type HeatMap struct {
	NS      string     `json:"ns"`
	Method  HeatMethod `json:"method"`
	By      string     `json:"by"`      // key or project
	Version string     `json:"version"` // send it as If-None-Match: 304 until there is a new column
	From    time.Time  `json:"from"`    // requested begin
	To      time.Time  `json:"to"`
	Oldest  *time.Time `json:"oldest"` // oldest stored time; null if none
	Freshness
	Scale   HeatScale   `json:"scale"`
	Columns []HeatSpan  `json:"columns"` // oldest first; times between columns were not counted
	Rows    []HeatRow   `json:"rows"`    // by key: in key order; by project: hottest first
	Max     Key         `json:"max"`     // by key: where the last row ends
	Shards  []HeatShard `json:"shards"`  // owners of rows, by name
	Marks   []HeatMark  `json:"marks"`   // what happened in this time, oldest first
	// OwnersSince is where the changelog begins, or stored history where that reaches further back: owners
	// of rows before it are unknown. Null if there is neither: only the present owners are known.
	OwnersSince *time.Time `json:"ownersSince"`
	Cells       []string   `json:"cells"`
}

// HeatSpan is the time of one column and how it was counted.
type HeatSpan struct {
	From    time.Time `json:"from"`
	Seconds int       `json:"seconds"` // length of the column
	Covered float64   `json:"covered"` // counted seconds, to which rates refer
	Sampled bool      `json:"sampled,omitempty"`
	AtLeast bool      `json:"atLeast,omitempty"` // a lower bound: some rows exceeded the reading budget or are omitted by the method
	Hottest bool      `json:"hottest,omitempty"` // only the hottest projects were counted: cells without rows are unknown
	Shared  bool      `json:"shared,omitempty"`  // counted in wider rows, whose writes are divided evenly
	Astray  int64     `json:"astray,omitempty"`  // writes in no row: their chunk or project is unknown
	How     string    `json:"how,omitempty"`     // the same in words: what is unsure about the rates
}

// HeatRow is a range of the shard key, or a project.
type HeatRow struct {
	// Key is a stable name of the row, for rows= of the page: a project's id, or a name of the lower
	// bound that does not show it.
	Key     string      `json:"key"`
	Min     Key         `json:"min,omitempty"`    // the row ends where the next one begins
	Ref     string      `json:"ref,omitempty"`    // the chunk at min
	Number  int         `json:"number,omitempty"` // that chunk's position in the collection, from 1
	Chunks  int         `json:"chunks,omitempty"` // in the current table
	Hashed  bool        `json:"hashed,omitempty"` // the key begins with a hash, which names nothing
	Shard   string      `json:"shard,omitempty"`  // shard that owns most of them now
	Mixed   bool        `json:"mixed,omitempty"`  // other shards own some of them
	Was     []HeatOwner `json:"was,omitempty"`    // earlier owners, newest first
	Project string      `json:"project,omitempty"`
	Name    string      `json:"name,omitempty"` // of the project
	// Label is what the row is called: its project, its chunk where the key begins with a hash or is hidden, or the key
	// at which it begins. Detail is what else says where it is.
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
	// Share is the row's part of all writes that were counted in the picture, to a thousandth.
	Share float64 `json:"share,omitempty"`
}

// HeatOwner is the shard that owned all of a row until a time; "" if it is not known, or if several did.
type HeatOwner struct {
	Until time.Time `json:"until"`
	Shard string    `json:"shard"`
}

// HeatMark is something that happened: moves, splits or merges of the collection's chunks, a run, or an
// alert that was sent. Several of a kind that happened close together are one mark.
type HeatMark struct {
	At    time.Time  `json:"at"`
	To    *time.Time `json:"to,omitempty"` // end of a run, or of the last of several
	Kind  string     `json:"kind"`         // move, split, merge, run or alert
	Count int        `json:"count"`
	Text  string     `json:"text"`
	URL   Address    `json:"url"` // the chunk, the run or the alert; of several the list, of changelog entries those of their minutes
	// Failed: a failed move or run.
	Failed bool `json:"failed,omitempty"`
	// Parts are the several of one mark, oldest first, for who looks closer; none where they are too many.
	Parts []HeatMarkPart `json:"parts,omitempty"`
}

// HeatMarkPart is one of the several things that a mark stands for.
type HeatMarkPart struct {
	At     time.Time  `json:"at"`
	To     *time.Time `json:"to,omitempty"`
	Text   string     `json:"text"`
	URL    Address    `json:"url"`
	Failed bool       `json:"failed,omitempty"`
}

// HeatShard is an owner of rows.
type HeatShard struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

// HeatScale defines the letters: letter i of Letters, from 0, is about Least × Stepⁱ writes per
// second.
type HeatScale struct {
	Letters string  `json:"letters"`
	Least   float64 `json:"least"`
	Step    float64 `json:"step"`
	Zero    string  `json:"zero"`
	Unknown string  `json:"unknown"`
}

const heatLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// HeatZero and HeatUnknown are the letters for no writes and for unknown.
const (
	HeatZero    = '.'
	HeatUnknown = '-'
)

// NewHeatScale has a step of 2 to the power of octaves. It begins below one write in the longest
// column, of four hours.
func NewHeatScale(octaves float64) HeatScale {
	return HeatScale{Letters: heatLetters, Least: 1.0 / 16384, Step: math.Exp2(octaves), Zero: string(HeatZero), Unknown: string(HeatUnknown)}
}

// Letter is the letter of a rate; rates beyond the ends get the last one.
func (s HeatScale) Letter(perSecond float64) byte {
	if perSecond <= 0 {
		return HeatZero
	}
	i := int(math.Round(math.Log(perSecond/s.Least) / math.Log(s.Step)))
	return s.Letters[max(0, min(i, len(s.Letters)-1))]
}

// Coarse rounds a letter of few writes to every second or fourth letter, because for four or forty
// writes chance alone changes the rate by a half or a sixth.
func (s HeatScale) Coarse(letter byte, writes int64) byte {
	i := strings.IndexByte(s.Letters, letter)
	by := 1
	switch {
	case writes < 8:
		by = 4
	case writes < 40:
		by = 2
	}
	if i < 0 || by == 1 {
		return letter
	}
	return s.Letters[min((i+by/2)/by*by, len(s.Letters)-1)]
}

// HeatRange is who recently wrote to a range of keys (GET heat/range).
type HeatRange struct {
	NS              string     `json:"ns"`
	Method          HeatMethod `json:"method"`
	Min             Key        `json:"min"`
	Max             Key        `json:"max"`
	Chunks          int        `json:"chunks"`
	Shards          []string   `json:"shards"`
	Window          string     `json:"window"`
	From            *time.Time `json:"from"`
	To              *time.Time `json:"to"`
	CoveredSeconds  float64    `json:"coveredSeconds"`
	WritesPerSecond float64    `json:"writesPerSecond"`
	PlusMinus       *float64   `json:"plusMinus"`
	Exact           bool       `json:"exact"`
	AtLeast         bool       `json:"atLeast"`
	Share           float64    `json:"share"`
	Projects        []Heat     `json:"projects"` // hottest first, at most ten
	Documents       []Heat     `json:"documents"`
}
