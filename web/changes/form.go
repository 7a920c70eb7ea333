package changes

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/param"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// form is a form with what was typed.
type form struct {
	changing.PlanForm
	sentences templates.Sentences

	Reason  string
	Problem string // why what was sent was refused
}

func formOf(v answer.View, k actions.Kind, in url.Values) form {
	value := func(name string) string {
		switch x, _ := actions.ArgumentNamed(name); x.Type {
		case actions.TypePlans, actions.TypeProjects, actions.TypeChunks:
			return longText(in.Get(name))
		}
		return site.Typed(in.Get(name), param.MostText)
	}
	return form{PlanForm: changing.PlanFormOf(v, k, value), sentences: templates.SentencesOf(v), Reason: site.Typed(in.Get("reason"), 2000)}
}

// FormArgs reads the arguments of a form: those that are empty were not given.
func FormArgs(in url.Values) (actions.Args, error) {
	given := map[string]json.RawMessage{}
	for _, x := range actions.Arguments() {
		text := in.Get(x.Name)
		if strings.TrimSpace(text) == "" {
			continue
		}
		raw, err := x.FromText(text)
		if err != nil {
			return actions.Args{}, err
		}
		given[x.Name] = raw
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return actions.Args{}, fault.Wrap(fault.Invalid, err, "The form is not readable.")
	}
	return actions.ReadArgs(raw)
}

// longText is a list that somebody typed, fit to be typed again: it may be as long as a batch.
func longText(s string) string {
	if len(s) > maxBatchBody || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return ""
	}
	return s
}
