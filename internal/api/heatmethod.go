package api

// HeatMethod is how the rates of a collection are measured.
type HeatMethod struct {
	// Counts is newRows if every write is a new row, counted by the time in its id, and changedRows
	// if rows are updated in place, counted by the date of their last change: a row changed twice
	// counts once.
	Counts string `json:"counts"`
	// Of is allProjects, or hottestProjects if only rows of the Projects projects with most new
	// rows are counted and the others are unknown.
	Of           string `json:"of"`
	Projects     int    `json:"projects,omitempty"`
	LowerBound   bool   `json:"lowerBound"` // rates are lower bounds
	EverySeconds int    `json:"everySeconds"`
}
