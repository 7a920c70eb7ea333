package api

// HeatMethod says what the rates of a collection are made of.
type HeatMethod struct {
	// Counts is newRows where every write is a new row, counted by the time in its
	// id, and changedRows where rows are changed in place, counted by the date of
	// their last change: one that was changed twice counts once.
	Counts string `json:"counts"`
	// Of is allProjects or hottestProjects: then only rows of the Projects projects
	// with most new rows are counted, and nothing is known of the others.
	Of           string `json:"of"`
	Projects     int    `json:"projects,omitempty"`
	LowerBound   bool   `json:"lowerBound"` // rates are at least so much
	EverySeconds int    `json:"everySeconds"`
}
