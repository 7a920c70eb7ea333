// Package storybook shows every page and every shared component in every state, over canned data: empty,
// loading, stale, partial, not permitted, failed, outcome unknown, 100 shards, long and hostile names.
//
// It has the one list of scenes. The tests of web check each scene's HTML, a browser test checks its
// accessibility in both themes, and the program cmd/storybook serves them to be looked at. It imports
// web/webtest, so it is never part of the program that people install.
package storybook

import (
	"slices"
	"strings"
	"sync"

	"shardboard/web/webtest"
)

// All is every scene: those of each page, those before sign-in, and every page in every state of the
// cluster. Names are unique.
func All() []webtest.Scene { return slices.Clone(all()) }

// all makes the scenes once: their clusters take seconds to build.
var all = sync.OnceValue(func() []webtest.Scene {
	out := slices.Concat(Scenes(), SignInScenes(), ClusterScenes())
	have := map[string]bool{}
	for _, sc := range out {
		have[sc.Name] = true
	}
	for _, sc := range StateScenes() {
		if !have[sc.Name] {
			out = append(out, sc)
		}
	}
	return out
})

// subjectOf is the page or component that a scene shows: the first word of its name.
func subjectOf(name string) string {
	subject, _, _ := strings.Cut(name, "-")
	return subject
}

// group is the scenes of one subject.
type group struct {
	subject string
	names   []string
}

// groups are the scenes in the order of the index.
func groups(list []webtest.Scene) []group {
	bySubject := map[string]*group{}
	var order []string
	for _, sc := range list {
		s := subjectOf(sc.Name)
		if bySubject[s] == nil {
			bySubject[s] = &group{subject: s}
			order = append(order, s)
		}
		bySubject[s].names = append(bySubject[s].names, sc.Name)
	}
	slices.Sort(order)
	out := make([]group, len(order))
	for i, s := range order {
		out[i] = *bySubject[s]
		slices.Sort(out[i].names)
	}
	return out
}

// Names are the names of all scenes.
func Names() (out []string) {
	for _, sc := range All() {
		out = append(out, sc.Name)
	}
	return out
}
