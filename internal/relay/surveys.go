package relay

import (
	"context"

	"shardboard/internal/auth"
	"shardboard/internal/heat/survey"
	"shardboard/internal/store"
)

// What is asked about surveys.
const (
	startSurvey = "survey.start"
	stopSurvey  = "survey.stop"
)

// Surveys are surveys at every replica: they are read here and run at the leader.
type Surveys struct {
	*survey.Engine
	relay *Relay
}

type surveyBody struct {
	Request survey.Request
	By      store.AuditEntry
}

type surveyStop struct {
	ID string
	By store.AuditEntry
}

// NewSurveys relays the requests of surveys.
func NewSurveys(r *Relay, e *survey.Engine) *Surveys {
	handle(r, startSurvey, func(ctx context.Context, _ auth.Principal, b surveyBody) (any, error) {
		return e.Start(ctx, b.Request, b.By)
	})
	handle(r, stopSurvey, func(ctx context.Context, _ auth.Principal, b surveyStop) (any, error) {
		return nil, e.Stop(ctx, b.ID, b.By)
	})
	return &Surveys{e, r}
}

// surveyLost is said also when the leader is gone: it may have stored the survey before.
const surveyLost = "It is not known whether this was done: the shardboard that leads has not answered. Look at the list of surveys."

// Start queues a survey, here or at the leader.
func (s *Surveys) Start(ctx context.Context, r survey.Request, by store.AuditEntry) (survey.Survey, error) {
	if !s.relay.follows() {
		got, err := s.Engine.Start(ctx, r, by)
		if !s.relay.mustAsk(err) {
			return got, err
		}
	}
	var got survey.Survey
	err := s.relay.ask(ctx, startSurvey, auth.From(ctx), surveyBody{r, by}, &got)
	if lost, is := asLost(err); is {
		err = lost.unknown(surveyLost, surveyLost)
	}
	if err == nil {
		s.Reread(ctx)
	}
	return got, err
}

// Stop ends a survey, here or at the leader.
func (s *Surveys) Stop(ctx context.Context, id string, by store.AuditEntry) error {
	if !s.relay.follows() {
		err := s.Engine.Stop(ctx, id, by)
		if !s.relay.mustAsk(err) {
			return err
		}
	}
	err := s.relay.ask(ctx, stopSurvey, auth.From(ctx), surveyStop{id, by}, nil)
	if lost, is := asLost(err); is {
		err = lost.unknown(surveyLost, surveyLost)
	}
	if err == nil {
		s.Reread(ctx)
	}
	return err
}
