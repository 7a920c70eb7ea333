package app

import (
	"context"

	"shardboard/internal/api"
	"shardboard/internal/profile"
)

// Words puts sentences for people into the words of a profile. The zero Words leaves them as they are.
type Words struct{ of *profile.Profile }

// Words are those of the profile of the cluster that is asked; zero where they are not known: the server may be older.
func (r Remote) Words(ctx context.Context) Words {
	var is api.Profile
	if r.Get(ctx, api.Prefix+"/profile", &is) != nil {
		return Words{}
	}
	w := is.Words
	return Words{&profile.Profile{Tenants: profile.Called{One: w.Tenant, Many: w.Tenants},
		Called: profile.Called{One: w.Document, Many: w.Documents}}}
}

// Words are those of the profile that is given.
func (c Config) Words() Words { return Words{c.Profile} }

// In is a sentence that speaks of projects and Yorkie documents, in these words.
func (w Words) In(sentence string) string { return w.of.Words(sentence) }

// Kind is a kind of an item that was located.
func (w Words) Kind(kind string) string {
	switch {
	case kind == "project":
		return w.In(kind)
	case kind == "document" && w.of != nil && w.of.Called.One != "":
		return w.In("Yorkie document")
	}
	return kind
}
