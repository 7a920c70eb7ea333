package api

import "time"

// MatrixRow is a collection or a project and its part on each shard (GET matrix).
type MatrixRow struct {
	Kind   string       `json:"kind"` // collection, project, or rest: what is in no row of a project
	ID     string       `json:"id"`   // the collection's namespace, or the project's id; "" for the rest
	DB     string       `json:"db"`
	Name   string       `json:"name"`
	Shards []MatrixPart `json:"shards" csv:"rows"` // those that have or may have a part of it
}

// MatrixPart is what one shard has of a collection or a project. Unknown numbers are null.
type MatrixPart struct {
	Shard           string       `json:"shard"`
	Bytes           MatrixFigure `json:"bytes"`
	Documents       MatrixFigure `json:"documents"` // of MongoDB
	WritesPerSecond MatrixRate   `json:"writesPerSecond"`
	// ReadsPerSecond are by the servers' own counters, of all programs; unknown by project: servers count by collection.
	ReadsPerSecond MatrixRate   `json:"readsPerSecond"`
	ReadMillis     *float64     `json:"readMillis"` // mean time of a read; null without reads
	Leaving        *MatrixMoves `json:"leaving"`    // what pending moves take from the shard; null if nothing
	Arriving       *MatrixMoves `json:"arriving"`   // what they bring to it
	// MovedAt is when a chunk last left or reached the shard after its bytes were read; null if none did.
	MovedAt *time.Time `json:"movedAt"`
}

// MatrixFigure is a number between Low and High, which are the number itself if it is exact. A value
// of 0 that is not exact means that none was seen.
type MatrixFigure struct {
	Value      *int64     `json:"value"`
	Low        *int64     `json:"low"`
	High       *int64     `json:"high"`
	Exact      bool       `json:"exact"`
	AtLeast    bool       `json:"atLeast"` // parts of it are not known, so that it is a lower bound
	At         *time.Time `json:"at"`
	AgeSeconds *int64     `json:"ageSeconds"` // at the time of the answer
	Reason     string     `json:"reason"`     // why it is null; "" if it is not
}

// MatrixRate is a MatrixFigure of writes or reads per second.
type MatrixRate struct {
	Value      *float64   `json:"value"`
	Low        *float64   `json:"low"`
	High       *float64   `json:"high"`
	Exact      bool       `json:"exact"`
	AtLeast    bool       `json:"atLeast"`
	At         *time.Time `json:"at"`
	AgeSeconds *int64     `json:"ageSeconds"`
	Reason     string     `json:"reason"`
}

// MatrixMoves are moves that have not ended. Bytes and Documents are null if not all are known.
type MatrixMoves struct {
	Moves     int      `json:"moves"`
	Running   int      `json:"running"` // of them, migrations under way; the others are steps of runs
	Shards    []string `json:"shards"`  // at the other end
	Bytes     *int64   `json:"bytes"`
	Documents *int64   `json:"documents"`
}
