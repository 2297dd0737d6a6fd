; Captures are explained in languages/__init__.py.

(function_declaration name: (identifier) @name) @function
(function_declaration body: (_) @body)
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @qualifier
    (generic_type type: (type_identifier) @qualifier)
    (pointer_type [(type_identifier) @qualifier (generic_type type: (type_identifier) @qualifier)])
  ]))
  name: (field_identifier) @name) @method
(method_declaration body: (_) @body)

(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @interface
(type_spec type: (interface_type (method_elem name: (field_identifier) @name) @method))
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(type_declaration . [(type_spec) (type_alias)]) @wrapper

(comment) @comment
(package_clause) @documented @trivia
(type_declaration "type" @trivia)
(import_declaration) @import

(call_expression function: [(identifier) (selector_expression)] @call)
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @call)
(type_conversion_expression type: (generic_type) @call)

(func_literal) @literal

(field_declaration !name type: (_) @inherits)
(interface_type (type_elem . [(type_identifier) (qualified_type)] @inherits .))

[(if_statement) (expression_case) (type_case) (communication_case)] @branch
(for_statement) @loop
