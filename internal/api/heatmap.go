package api

import (
	"math"
	"strings"
	"time"
)

// HeatMap is where the writes of a collection went over time (GET heat/map).
// Cells is one text per row with one letter per column: a letter stands for a
// span of rates, "." for none, "-" for what is not known. Rate gives the middle
// of a letter's span.
type HeatMap struct {
	NS      string     `json:"ns"`
	Method  HeatMethod `json:"method"`
	By      string     `json:"by"`      // key or project
	Version string     `json:"version"` // give it back as If-None-Match: 304 until there is a new column
	From    time.Time  `json:"from"`    // as asked for
	To      time.Time  `json:"to"`
	Oldest  *time.Time `json:"oldest"` // begin of what is kept at all; null when nothing is
	Freshness
	Scale   HeatScale   `json:"scale"`
	Columns []HeatSpan  `json:"columns"` // oldest first; a time between two columns was not counted
	Rows    []HeatRow   `json:"rows"`    // by key: in key order; by project: hottest first
	Max     Key         `json:"max"`     // by key: where the last row ends
	Shards  []HeatShard `json:"shards"`  // owners of rows, by name
	Cells   []string    `json:"cells"`
}

// HeatSpan is one column's time and how it was counted.
type HeatSpan struct {
	From    time.Time `json:"from"`
	Seconds int       `json:"seconds"` // how long the column is
	Covered float64   `json:"covered"` // seconds of it that were counted; rates are over these
	Sampled bool      `json:"sampled,omitempty"`
	AtLeast bool      `json:"atLeast,omitempty"` // some rows were not counted: beyond the reading budget, or left out by the method
	Hottest bool      `json:"hottest,omitempty"` // of the hottest projects only: a cell without counted rows is not known
	Shared  bool      `json:"shared,omitempty"`  // rows were wider then; their writes are divided evenly
	Astray  int64     `json:"astray,omitempty"`  // writes that are in no row: their chunk, or their project's name, is not known
}

// HeatRow is a range of the shard key, or a project.
type HeatRow struct {
	Min     Key    `json:"min,omitempty"`    // the row ends where the next one begins
	Ref     string `json:"ref,omitempty"`    // the chunk at min
	Chunks  int    `json:"chunks,omitempty"` // by the table of now
	Shard   string `json:"shard,omitempty"`  // that owns most of them now
	Project string `json:"project,omitempty"`
	Name    string `json:"name,omitempty"` // of the project
}

// HeatShard is an owner of rows.
type HeatShard struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

// HeatScale tells what the letters mean: letter i of Letters, from 0, is
// writes per second of about Least × Stepⁱ.
type HeatScale struct {
	Letters string  `json:"letters"`
	Least   float64 `json:"least"`
	Step    float64 `json:"step"`
	Zero    string  `json:"zero"`
	Unknown string  `json:"unknown"`
}

const heatLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// HeatZero and HeatUnknown are the letters of no writes and of not known.
const (
	HeatZero    = '.'
	HeatUnknown = '-'
)

// NewHeatScale has a step of 2 to the power of octaves. It begins below one
// write in the longest column, of four hours.
func NewHeatScale(octaves float64) HeatScale {
	return HeatScale{Letters: heatLetters, Least: 1.0 / 16384, Step: math.Exp2(octaves), Zero: string(HeatZero), Unknown: string(HeatUnknown)}
}

// Letter is the letter of a rate; rates beyond the ends take the last one.
func (s HeatScale) Letter(perSecond float64) byte {
	if perSecond <= 0 {
		return HeatZero
	}
	i := int(math.Round(math.Log(perSecond/s.Least) / math.Log(s.Step)))
	return s.Letters[max(0, min(i, len(s.Letters)-1))]
}

// Coarse is a letter of few writes as one of every second or fourth letter: of
// four writes or forty, chance alone makes half or a sixth more or less.
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

// HeatRange is who wrote to a range of keys lately (GET heat/range).
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
