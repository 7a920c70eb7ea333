package records

import (
	"context"
	"errors"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// survey is a survey with its place in the order of the first saving.
type survey struct {
	N int64
	store.Survey
}

var (
	surveys = tableOf("surveys", func(cluster *string, s *survey) []any {
		return []any{&s.N, cluster, &s.ID, &s.At, &s.Head, &s.Body}
	})
	surveyHeads = tableOf("surveys", func(_ *string, s *store.Survey) []any { return []any{&s.ID, &s.At, &s.Head} }, "id", "at", "head")
	surveyOrder = tableOf("surveys", func(_ *string, s *survey) []any { return []any{&s.N} }, "n")
)

// SaveSurvey writes or replaces a survey. Any replica stores one that a person asks for; the leader runs it and stores
// how it goes on.
func (r Records) SaveSurvey(ctx context.Context, cluster string, s store.Survey, told ...store.AuditEntry) error {
	return r.askedOrLed(ctx, told, len(s.Body), func(ctx context.Context, tx Tx) error {
		was, err := one(ctx, tx, surveyOrder, surveys.is("cluster", cluster, "id", s.ID))
		if errors.Is(err, ErrNone) {
			was.N, err = tx.Number(ctx, surveys.Table, "n", 1)
		}
		if err != nil {
			return err
		}
		return tx.Put(ctx, surveys.Table, surveys.row(cluster, survey{was.N, s}))
	})
}

// SurveyHeads returns surveys without their bodies, newest first.
func (r Records) SurveyHeads(ctx context.Context, cluster string, limit int) ([]store.Survey, error) {
	return list(ctx, r.db, surveyHeads, surveys.is("cluster", cluster), limit, "-at", "-n")
}

// SurveyBody returns a survey's body.
func (r Records) SurveyBody(ctx context.Context, cluster, id string) ([]byte, error) {
	s, err := one(ctx, r.db, surveys, surveys.is("cluster", cluster, "id", id))
	return s.Body, or(err, fault.New(fault.NotFound, "This survey is not kept any more."))
}

// DropSurvey deletes a survey.
func (r Records) DropSurvey(ctx context.Context, cluster, id string) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		_, err := tx.Delete(ctx, surveys.Table, surveys.is("cluster", cluster, "id", id))
		return err
	})
}
