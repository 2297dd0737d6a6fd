; Captures are explained in languages/__init__.py.

(function_item name: (identifier) @name) @function
(function_item body: (_) @body)
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(struct_item body: (field_declaration_list) @body)
(union_item name: (type_identifier) @name body: (_) @body) @struct
(enum_item name: (type_identifier) @name body: (_) @body) @enum
(trait_item name: (type_identifier) @name body: (_) @body) @trait
(source_file (type_item name: (type_identifier) @name) @type)
(mod_item body: (declaration_list (type_item name: (type_identifier) @name) @type))
(mod_item name: (identifier) @name body: (_) @body) @namespace
(macro_definition name: (identifier) @name . (_) @body) @macro

(impl_item type: [
  (type_identifier) @name
  (primitive_type) @name
  (scoped_type_identifier) @name
  (generic_type type: (_) @name)
  (reference_type type: (_) @name)
  (pointer_type type: (_) @name)
  (dynamic_type trait: (_) @name)
  [(array_type) (tuple_type) (unit_type) (function_type)] @name
]) @scope
(impl_item trait: (_) @inherits)
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @inherits))

(attribute_item) @attribute
[(line_comment) (block_comment)] @comment
(source_file (line_comment inner: (inner_doc_comment_marker)) @doc.inner)
(inner_attribute_item) @trivia
(mod_item !body) @trivia
(impl_item ["impl" "for"] @trivia)
(impl_item type_parameters: (_) @trivia)
(impl_item trait: (_) @trivia)
(impl_item type: (_) @trivia)
(impl_item (where_clause) @trivia)

(call_expression function: [
  (identifier) @call
  (field_expression) @call
  (scoped_identifier) @call
  (generic_function function: (_) @call)
])
(struct_expression name: (_) @call)
(macro_invocation macro: (_) @call (token_tree) @tokens)

[(if_expression) (match_arm)] @branch
[(for_expression) (while_expression) (loop_expression)] @loop

[(use_declaration) (extern_crate_declaration)] @import
