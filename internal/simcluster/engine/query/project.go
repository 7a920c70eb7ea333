package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Apply gives the projected document. A nil projection gives doc itself.
func (p *Projection) Apply(doc bson.Raw) (bson.Raw, error) {
	if p == nil {
		return doc, nil
	}
	b := value.NewBuilder(min(len(doc), 256))
	for name, v := range value.Elements(doc) {
		if name == "_id" && p.root.fields["_id"] == nil {
			if !p.dropID {
				b.Append(name, v)
			}
			continue
		}
		out, err := p.element(doc, p.root, name, v)
		if err != nil {
			return nil, err
		}
		b.Append(name, out)
	}
	if len(p.computed) == 0 {
		return b.Raw(), nil
	}
	t := openDoc(b.Raw())
	for _, c := range p.computed {
		v, err := c.expr.Eval(doc, p.env)
		if err != nil {
			return nil, err
		}
		if v.Type == 0 {
			continue
		}
		if err := t.set(c.path, v); err != nil {
			return nil, err
		}
	}
	return t.raw(), nil
}

// element is what remains of one field; missing = nothing.
func (p *Projection) element(doc bson.Raw, at *shape, name string, v bson.RawValue) (bson.RawValue, error) {
	s := at.fields[name]
	switch {
	case s == nil && p.exclude:
		return v, nil
	case s == nil:
		return bson.RawValue{}, nil
	case s.list != nil:
		return s.list(p, doc, v)
	case s.fields == nil && p.exclude:
		return bson.RawValue{}, nil
	case s.fields == nil:
		return v, nil
	}
	return p.below(doc, s, v)
}

// below goes into documents and, element by element, into arrays.
func (p *Projection) below(doc bson.Raw, s *shape, v bson.RawValue) (bson.RawValue, error) {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		b := value.NewBuilder(len(v.Value))
		for name, item := range value.Elements(v.Value) {
			out, err := p.element(doc, s, name, item)
			if err != nil {
				return out, err
			}
			b.Append(name, out)
		}
		return value.Doc(b.Raw()), nil
	case bson.TypeArray:
		b := value.NewBuilder(len(v.Value))
		for item := range value.Items(v) {
			out, err := p.below(doc, s, item)
			if err != nil {
				return out, err
			}
			b.Push(out)
		}
		return bson.RawValue{Type: bson.TypeArray, Value: b.Raw()}, nil
	}
	if p.exclude {
		return v, nil
	}
	return bson.RawValue{}, nil
}

// sliced is {$slice: n} or {$slice: [skip, n]}.
func sliced(arg bson.RawValue) (func(*Projection, bson.Raw, bson.RawValue) (bson.RawValue, error), error) {
	skip, n := int64(0), int64(0)
	pair := arg.Type == bson.TypeArray
	switch list := items(arg); {
	case pair && len(list) == 2 && value.IsNumber(list[1]):
		skip, _ = value.Long(list[0])
		if n, _ = value.Long(list[1]); n <= 0 {
			return nil, status.Errorf(28724, "First argument to $slice must be an array, but is of type: %s", TypeName(list[0]))
		}
	case !pair && value.IsNumber(arg):
		n, _ = value.Long(arg)
	default:
		return nil, status.Errorf(28667, "Invalid $slice syntax. The given syntax { $slice: %s } did not match the find() "+
			"syntax because :: Location31273: $slice only supports numbers and [skip, limit] arrays", value.Text(arg))
	}
	return func(_ *Projection, _ bson.Raw, v bson.RawValue) (bson.RawValue, error) {
		if v.Type != bson.TypeArray {
			return v, nil
		}
		list := items(v)
		size := int64(len(list))
		from, to := int64(0), min(max(n, 0), size)
		switch {
		case pair && skip < 0:
			from = max(size+skip, 0)
			to = min(from+n, size)
		case pair:
			from = min(skip, size)
			to = min(from+n, size)
		case n < 0:
			from, to = max(size+n, 0), size
		}
		return value.Array(list[from:to]...), nil
	}, nil
}

// firstMatch is the projection operator $elemMatch: an array of the first element that matches.
func firstMatch(t test) func(*Projection, bson.Raw, bson.RawValue) (bson.RawValue, error) {
	return func(_ *Projection, _ bson.Raw, v bson.RawValue) (bson.RawValue, error) {
		at := -1
		if v.Type != bson.TypeArray || !t.holds(v, &at) {
			return bson.RawValue{}, nil
		}
		return value.Array(items(v)[at]), nil
	}
}

// positional is "field.$": the element at which the filter matched.
func positional(p *Projection, doc bson.Raw, v bson.RawValue) (bson.RawValue, error) {
	if v.Type != bson.TypeArray {
		return v, nil
	}
	_, at, err := p.filter.MatchPosition(doc)
	if err != nil {
		return v, err
	}
	list := items(v)
	if at < 0 || at >= len(list) {
		return v, status.Errorf(51246,
			"Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array")
	}
	return value.Array(list[at]), nil
}
