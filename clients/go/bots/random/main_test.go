package main

import (
	"testing"

	"github.com/pegboard/pegboard/clients/go/internal/vectors"
)

func TestChoosesAsTheVectors(t *testing.T) {
	vectors.Each(t, func(t *testing.T, c vectors.Case) {
		seed = c.Random.Seed
		c.Random.Check(t, c.Turn, choose(c.Turn))
	})
}
