package api

import "time"

// RunBatch is how far a batch is. Its items are in GET runs/{id}/items.
type RunBatch struct {
	Items    int          `json:"items"`
	Done     int          `json:"done"`
	Skipped  int          `json:"skipped"`
	Groups   int          `json:"groups"`
	Group    int          `json:"group"`   // that runs, from 1; 0: none began
	Checked  int          `json:"checked"` // groups after which the health of the cluster was checked
	Paused   bool         `json:"paused"`
	PausedBy string       `json:"pausedBy,omitempty"` // who paused it; "" if the batch paused itself
	PausedAt *time.Time   `json:"pausedAt"`
	Why      string       `json:"why,omitempty"`   // why it is paused
	Waits    string       `json:"waits,omitempty"` // what the next item waits for
	NextAt   *time.Time   `json:"nextAt"`          // when the next item may begin, because of the limits per hour
	Seconds  *float64     `json:"secondsLeft"`     // estimate; null if unknown
	Open     []BatchOpen  `json:"open"`            // items that run now
	Problems []BatchTrial `json:"problems"`        // items that failed
	Health   []BatchGate  `json:"health"`          // after the latest groups, oldest first
	Rows     BatchRows    `json:"rows"`            // of the items of the group that ended last
	Progress string       `json:"progress"`        // the same in one line
}

// BatchOpen is an item that runs now.
type BatchOpen struct {
	Item int    `json:"item"` // number
	Run  string `json:"run"`  // id
}

// BatchTrial is an item that failed.
type BatchTrial struct {
	Item  int    `json:"item"`
	Run   string `json:"run,omitempty"` // its last run; "" when it was refused before there was one
	Tries int    `json:"tries"`
	State string `json:"state"` // retry, waits (for a person), skipped
	Why   string `json:"why"`
}

// BatchGate is the result of a look at the cluster's health after a group.
type BatchGate struct {
	Group    int        `json:"group"`
	At       *time.Time `json:"at"`
	Findings []string   `json:"findings"` // what is wrong; none: the batch went on
	Unknown  []string   `json:"unknown"`  // what could not be checked
}

// BatchRows compares rows before and after the items of a group.
type BatchRows struct {
	Same      int       `json:"same"`
	Different int       `json:"different"`
	Unknown   int       `json:"unknown"`
	Text      string    `json:"text,omitempty"` // the same as a sentence
	Counts    []RunRows `json:"counts"`         // the first 20: different ones, then those that are not known
}

// BatchItem is one item of a batch (GET runs/{id}/items).
type BatchItem struct {
	Item      int        `json:"item"` // number
	Group     int        `json:"group"`
	Kind      string     `json:"kind"`
	Summary   string     `json:"summary"`
	State     string     `json:"state"` // like that of a run, or skipped
	Run       string     `json:"run,omitempty"`
	Tries     int        `json:"tries"` // runs that it has had
	Why       string     `json:"why,omitempty"`
	StartedAt *time.Time `json:"startedAt"`
	EndedAt   *time.Time `json:"endedAt"`
}

// RunResume lets a paused batch go on (POST runs/{id}/resume), or decides about an item that has
// failed: do is retry or skip. The body is optional.
type RunResume struct {
	Item int    `json:"item"`
	Do   string `json:"do"`
}

// PlanItem is one change of a batch in PlanArgs.
type PlanItem struct {
	Kind string   `json:"kind"`
	Args PlanArgs `json:"args"`
}
