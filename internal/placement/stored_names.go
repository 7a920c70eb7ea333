package placement

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// storedNames is a directory as it is stored: without keys and counts.
type storedNames struct {
	At        time.Time
	Databases []string
	Left      int // projects that were too many
	Projects  []storedName
}

type storedName struct {
	DB   string
	ID   bson.ObjectID
	Is   []byte `json:",omitempty"` // the id as it is stored, where it is no ObjectID
	Name string
	Made time.Time // zero: not known
}

// EncodeNames writes the names of the newest projects, so many at most.
func (d *Directory) EncodeNames(most int) (string, error) {
	all := slices.Clone(d.projects)
	slices.SortFunc(all, func(a, b Project) int { return cmp.Or(-slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.DB, b.DB)) })
	kept := all[:min(len(all), most)]
	is := storedNames{At: d.health.At, Databases: d.databases, Left: len(all) - len(kept), Projects: make([]storedName, len(kept))}
	for i, p := range kept {
		is.Projects[i] = storedName{p.DB, p.ID, []byte(p.Stored), p.Name, p.CreatedAt}
	}
	text, err := json.Marshal(is)
	return string(text), err
}

// DecodeNames reads what EncodeNames wrote. The number of the directory is one that no newer list has.
func DecodeNames(text string) (*Directory, error) {
	var was storedNames
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		return nil, fmt.Errorf("stored names of projects: %w", err)
	}
	notStored := topology.Figure{Reason: "notKept"}
	projects := make([]Project, len(was.Projects))
	for i, p := range was.Projects {
		projects[i] = Project{DB: p.DB, ID: p.ID, Stored: Stored(p.Is), Name: p.Name, CreatedAt: p.Made, Documents: notStored, Clients: notStored}
	}
	h := topology.Health{At: was.At}
	if was.Left > 0 {
		h.Note = "Only the newest projects are stored by name."
	}
	return NewDirectory(math.MaxUint64, was.Databases, projects, h), nil
}
