"""Generated documentation: each module makes pages out of the product, `python -m docs.generate` writes them all."""
