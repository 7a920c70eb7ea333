package templates

import (
	"encoding/json"

	"shardboard/internal/api"
)

// Watching is what is watched and where it is now.
type Watching struct {
	Items []Watched
	Page  bool // the list is the page itself
}

// Watched is a chunk or a project that is watched.
type Watched struct {
	api.Watched
	Where []ShardRef // all that hold a part of it
	Drop  string     // address without it
}

// spaces tells scripts which shards hold the thing: a JSON array of [namespace, shard, …].
func (w Watched) spaces() string {
	if w.Gone != "" {
		return ""
	}
	list := [][]string{}
	for _, h := range w.Holders {
		list = append(list, append([]string{h.NS}, h.Shards...))
	}
	out, err := json.Marshal(list)
	if err != nil {
		return "" // strings only: cannot be
	}
	return string(out)
}

func watchedName(w Watched) string {
	if w.Bound == "" {
		return w.Name
	}
	return w.Name + " " + BoundKey(w.Bound).Short
}
