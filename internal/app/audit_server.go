package app

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/store"
)

// auditServer reads the record from a running server. It does not rely on the server's own
// verification, because whoever changed the record may have changed the server too: all records are
// read and verified here.
type auditServer struct{ at Remote }

func (s auditServer) close() error { return nil }

func (s auditServer) heads(ctx context.Context, all bool) (out []store.AuditHead, err error) {
	if !all {
		var st api.AuditState
		if err := s.at.Get(ctx, api.Prefix+"/audit/head", &st); err != nil || st.Head == nil {
			return nil, err
		}
		h, err := headOf(*st.Head)
		return []store.AuditHead{h}, err
	}
	for item, err := range pages[api.AuditHead](ctx, s.at, api.Prefix+"/audit/heads", nil) {
		if err != nil {
			return nil, err
		}
		h, err := headOf(item)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

func (s auditServer) records(ctx context.Context) iter.Seq2[store.AuditRecord, error] {
	return func(yield func(store.AuditRecord, error) bool) {
		for item, err := range pages[api.AuditRecord](ctx, s.at, api.Prefix+"/audit", url.Values{"order": {"oldest"}}) {
			var r store.AuditRecord
			if err == nil {
				r, err = recordOf(item)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// pages reads all pages of a list.
func pages[T any](ctx context.Context, at Remote, path string, q url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		q := url.Values(q)
		for next := api.Cursor(""); ; {
			ask := url.Values{"limit": {strconv.Itoa(api.MaxLimit)}}
			for name, values := range q {
				ask[name] = values
			}
			if next != "" {
				ask.Set("cursor", string(next))
			}
			var part api.List[T]
			if err := at.Get(ctx, path+"?"+ask.Encode(), &part); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range part.Items {
				if !yield(item, nil) {
					return
				}
			}
			if next = part.Next; next == "" {
				return
			}
		}
	}
}
