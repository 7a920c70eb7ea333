package site

import (
	"net/http"
	"slices"
	"strconv"

	"shardboard/internal/api"
)

// statuses are all with which a route answers when nothing is wrong: those it
// names, and those that follow from what it is.
func (rt Route) statuses() []int {
	out := slices.Clone(rt.Status)
	switch {
	case len(out) > 0:
	case rt.Tag == TagPages && rt.Method == http.MethodPost:
		out = []int{http.StatusSeeOther} // forms lead to a page
	default:
		out = []int{http.StatusOK}
	}
	need, _ := rt.Policy.Needs()
	if rt.Tag == TagPages && need != "" && !slices.Contains(out, http.StatusSeeOther) {
		out = append(out, http.StatusSeeOther) // to sign in
	}
	if rt.Tagged {
		out = append(out, http.StatusNotModified)
	}
	return out
}

// bodiless statuses have headers alone.
func bodiless(status int) bool {
	return status == http.StatusSwitchingProtocols || status >= 300 && status < 400
}

// responsesOf describes every answer of a route; default is whatever goes wrong.
func responsesOf(rt Route, schemas *schemas) map[string]any {
	problem := map[string]any{api.ProblemType: map[string]any{"schema": schemas.Of(api.Problem{})}}
	if rt.Tag == TagPages || rt.Tag == TagOperations {
		problem[MediaHTML] = map[string]any{"schema": map[string]any{"type": "string"}} // to people
		problem[MediaText] = map[string]any{"schema": map[string]any{"type": "string"}} // to whoever asks under a foreign host name
	}
	out := map[string]any{"default": map[string]any{"description": "What went wrong (RFC 9457)", "content": problem}}
	for _, status := range rt.statuses() {
		answer := map[string]any{"description": meaning(rt, status)}
		if !bodiless(status) {
			answer["content"] = contentOf(rt, schemas)
		}
		out[strconv.Itoa(status)] = answer
	}
	return out
}

func meaning(rt Route, status int) string {
	switch status {
	case http.StatusSeeOther:
		return "On to another page: what the form did, or sign-in"
	case http.StatusTemporaryRedirect:
		return "Ask again, as long as another release is served beside this one"
	case http.StatusNotModified:
		return "As the ETag of the request says"
	case http.StatusServiceUnavailable:
		return "Not yet"
	}
	return rt.Summary
}

func contentOf(rt Route, schemas *schemas) map[string]any {
	content := map[string]any{}
	for _, media := range rt.Types {
		content[media] = map[string]any{"schema": map[string]any{"type": "string"}}
	}
	if rt.Answer != nil {
		content[MediaJSON] = map[string]any{"schema": schemas.Of(rt.Answer)}
	}
	return content
}

// bodyOf describes what a route takes; nil when it takes nothing.
func bodyOf(rt Route, schemas *schemas) map[string]any {
	switch {
	case rt.Body != nil:
		content := map[string]any{MediaJSON: map[string]any{"schema": schemas.Of(rt.Body)}}
		for _, media := range rt.Takes {
			content[media] = map[string]any{"schema": map[string]any{"type": "string"}}
		}
		return map[string]any{"required": !rt.BodyOptional, "content": content}
	case rt.Method == http.MethodPost && rt.Tag == TagPages:
		return map[string]any{"required": false, "content": map[string]any{MediaForm: map[string]any{"schema": map[string]any{"type": "object"}}}}
	}
	return nil
}
