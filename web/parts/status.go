package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// PartState is answer.PartState, for pages that still reach it from here.
func PartState(v answer.View, p topology.Part) api.State { return answer.PartState(v, p) }

// ProjectsState is answer.ProjectsState.
func ProjectsState(v answer.View) api.State { return answer.ProjectsState(v) }

// ErrorView is the page of a request that failed.
func ErrorView(k fault.Kind, text string) templates.ErrorModel {
	return templates.ErrorModel{Status: k.HTTPStatus(), Title: k.Heading(), Text: text, Advice: k.Advice()}
}
