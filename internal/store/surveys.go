package store

import (
	"context"
	"time"
)

// Survey is a measurement, under way or ended. What Head and Body hold is the
// business of who wrote it; lists need the head alone.
type Survey struct {
	ID   string
	At   time.Time // when it was asked for
	Head []byte
	Body []byte
}

// Surveys keeps measurements and their results.
type Surveys interface {
	// SaveSurvey writes or replaces one, together with the audit entries of who
	// asked for it.
	SaveSurvey(ctx context.Context, cluster string, s Survey, told ...AuditEntry) error
	// SurveyHeads gives surveys without their bodies, newest first.
	SurveyHeads(ctx context.Context, cluster string, limit int) ([]Survey, error)
	// SurveyBody gives one's body; fault.NotFound.
	SurveyBody(ctx context.Context, cluster, id string) ([]byte, error)
	// DropSurvey forgets one, if it is there.
	DropSurvey(ctx context.Context, cluster, id string) error
}
