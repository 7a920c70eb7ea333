package api

import "time"

// ChunkAround is what a chunk was, what is beside it and who writes to it (GET
// collections/{ns}/chunks/{ref}/around).
type ChunkAround struct {
	NS         string           `json:"ns"`
	Ref        string           `json:"ref"`
	Owners     ChunkOwners      `json:"owners"`
	Neighbours []ChunkNeighbour `json:"neighbours"` // in key order, with the chunk itself
	Rank       int              `json:"rank"`       // of its size among these, from 1; 0 if unknown
	Writes     ChunkWriteCurve  `json:"writes"`
	Projects   []ChunkProject   `json:"projects"`
	// ProjectsBy says what projects are: keys (it holds keys of theirs), writes (they wrote to it in the window that was
	// asked for) or "" if that is not known.
	ProjectsBy   string `json:"projectsBy"`
	MoreProjects int    `json:"moreProjects"` // that are not listed
	Last         string `json:"-"`            // the window of writes: "the last 5 min"
	Freshness
}

// ChunkOwners is which shard had the chunk's lower bound, over the last day or as much of it as is known.
type ChunkOwners struct {
	From  time.Time    `json:"from"`
	To    time.Time    `json:"to"`
	Spans []ChunkOwner `json:"spans"` // oldest first, without gaps
	Marks []ChunkMark  `json:"marks"` // splits and merges of its range
}

// ChunkOwner is one span of time with one owner; Shard is "" while it is unknown.
type ChunkOwner struct {
	Shard string    `json:"shard"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
}

// ChunkMark is a split or a merge.
type ChunkMark struct {
	At   time.Time `json:"at"`
	What string    `json:"what"` // split or merge
}

// ChunkNeighbour is a chunk beside it.
type ChunkNeighbour struct {
	Chunk
	Self bool `json:"self"`
}

// ChunkWriteCurve is the writes per second of recent columns; a column that was not counted is null.
type ChunkWriteCurve struct {
	From    *time.Time `json:"from"` // null if nothing was recorded
	To      *time.Time `json:"to"`
	Rates   []*float64 `json:"rates"`
	Chunks  int        `json:"chunks"`  // the picture's rows hold so many chunks together; 1: the chunk alone
	AtLeast bool       `json:"atLeast"` // only writes of the hottest projects were counted
}

// ChunkProject is a project with keys in the chunk, or that writes to it.
type ChunkProject struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	WritesPerSecond *float64 `json:"writesPerSecond"` // in the last 5 minutes; null if not counted
	Alone           bool     `json:"-"`               // all keys of the chunk are the project's
}
