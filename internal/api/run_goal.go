package api

import "time"

// Limits are what a run may change. It adapts to the cluster within them and stops beyond them.
type Limits struct {
	Collections []string `json:"collections"`
	Project     string   `json:"project,omitempty"` // id
	Zones       []string `json:"zones"`
	Shards      []string `json:"shards"` // that may receive chunks
	Chunks      int      `json:"chunks"` // largest number of moves in the whole run
	Bytes       Figure   `json:"bytes"`  // largest amount that may be left to move; unknown: no limit
}

// Standing is what a run has changed in the cluster and not undone.
type Standing struct {
	Splits            int    `json:"splits"`
	Merges            int    `json:"merges"`
	Moves             int    `json:"moves"`
	WholeMoves        int    `json:"wholeMoves"` // moves of databases, and of collections that are not divided into chunks
	ZoneRangesSet     int    `json:"zoneRangesSet"`
	ZoneRangesRemoved int    `json:"zoneRangesRemoved"`
	ShardsAdded       int    `json:"shardsAddedToZones"`
	ShardsRemoved     int    `json:"shardsRemovedFromZones"`
	DrainsBegun       int    `json:"drainsBegun"`
	DrainsEnded       int    `json:"drainsEnded"`
	ShardsGone        int    `json:"shardsRemoved"` // from the cluster
	Settings          int    `json:"settings"`      // changed settings of the balancer and of collections, and jumbo flags
	ByOthers          int    `json:"byOthers"`      // steps that somebody else had already done
	Unknown           int    `json:"unknown"`       // commands of which the outcome is not known
	Paused            bool   `json:"paused"`        // balancing is switched off by this run
	Text              string `json:"text"`          // the same in sentences
}

// Adaptation is one time that the rest of a run was planned again.
type Adaptation struct {
	At      *time.Time   `json:"at"`
	Step    int          `json:"step"`    // index of the first new step
	Before  int          `json:"before"`  // steps that were left
	After   int          `json:"after"`   // steps that are left
	Same    bool         `json:"same"`    // the same commands: only what they need was read again
	Refused bool         `json:"refused"` // it was not planned again: that would go beyond what was confirmed
	Because []Difference `json:"because"` // what was not as planned
	Text    string       `json:"text"`
}

// StepWait is what a step waits for, or waited for last.
type StepWait struct {
	Obstacle string     `json:"obstacle"` // migration, orphans, deletion, recipient, lock, metadata, ddl, time
	Text     string     `json:"text"`
	Since    *time.Time `json:"since"`
	Next     *time.Time `json:"next"`  // of the next try
	Until    *time.Time `json:"until"` // when it gives up
}
