package api

// KeyProject is the project whose id a shard-key value holds; zero if the value holds none, or a hash of it.
type KeyProject struct {
	Project     string `json:"project,omitempty"`     // its id
	ProjectName string `json:"projectName,omitempty"` // "" if the list of projects does not have it

	Unlisted bool `json:"-"` // the list was read and does not have it, for example because it was deleted
}

// ZoneName is a zone as pages name it: one that is named after a project stands with the project's name.
type ZoneName struct {
	Zone string // its name in the cluster
	Kind string // what it does to the project: "pin" or "others of"; "" if it is not named after a project
	KeyProject
}
