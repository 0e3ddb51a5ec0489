package pool

// Generations are all that are there, the oldest first.
func (p *Pool) Generations() ([]Generation, error) {
	numbers, err := p.numbers()
	if err != nil {
		return nil, err
	}
	var all []Generation
	for _, n := range numbers {
		g, err := p.Generation(n)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}
