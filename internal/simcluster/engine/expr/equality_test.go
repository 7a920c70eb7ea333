package expr

import "testing"

func TestEqualitiesOfAnExpressionAreFound(t *testing.T) {
	env := newTestEnv(t)
	for text, want := range map[string]string{
		`{'$eq': ['$uuid', '$$u.a']}`: "uuid=7 ",
		`{'$eq': [3, '$a.b']}`:        "a.b=3 ",
		`{'$and': [{'$eq': ['$a', 1]}, {'$gt': ['$b', 2]}, {'$eq': ['$c', 'x']}]}`: `a=1 c="x" `,
		`{'$or': [{'$eq': ['$a', 1]}]}`:                                            "",
		`{'$eq': ['$a', '$b']}`:                                                    "",
		`{'$eq': ['$a', null]}`:                                                    "",
		`{'$eq': ['$a', '$$gone']}`:                                                "",
		`{'$eq': ['$a', [1]]}`:                                                     "",
		`{'$gt': ['$a', 1]}`:                                                       "",
		`{'$eq': ['$a', {'$add': [1]}]}`:                                           "",
	} {
		e, err := env.Compile(parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, q := range e.Equalities(env) {
			got += q.Path + "=" + Text(q.Value) + " "
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
