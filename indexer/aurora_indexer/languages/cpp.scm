; inherits: c
; Captures are explained in languages/__init__.py.

(function_definition [(default_method_clause) (delete_method_clause)] @body) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name)))
(function_definition declarator: [(qualified_identifier) (operator_cast)] @name)
(function_definition (field_initializer_list) @body)
(function_definition declarator: (pointer_declarator declarator:
  (reference_declarator (function_declarator declarator: (_) @name))))

(class_specifier name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_) @body) @namespace
(alias_declaration name: (type_identifier) @name) @type
(type_definition
  type: [(qualified_identifier) (template_type) (dependent_type)]
  declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
  ]) @type
(type_definition declarator: (reference_declarator (type_identifier) @name)) @type
(concept_definition name: (identifier) @name) @type
(template_declaration) @wrapper

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @inherits)

(call_expression function: [(qualified_identifier) (template_function)] @call)
(new_expression type: (_) @call)

(catch_clause) @branch
(for_range_loop) @loop
(using_declaration) @trivia
(namespace_definition "namespace" @trivia)
(linkage_specification "extern" @trivia value: (_) @trivia)
